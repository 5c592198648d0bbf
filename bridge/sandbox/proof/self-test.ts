/** Proves a sandbox: runs a command in it that tries to get out, and checks from outside what the command achieved. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access, lchown, mkdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { shellWord } from '../../../machine/shell-word.ts';
import { COMMAND_LIMITS } from '../../../shared/limits.ts';
import { runCommand } from '../../terminal/run-command.ts';
import type { CommandUser } from '../account.ts';
import type { Confinement, SandboxSurroundings } from '../launch/confinement.ts';
import { SANDBOX_LIMITS } from '../limits.ts';

/**
 * Undefined when every check passed, else one sentence about the check that failed. Removes everything that it made.
 */
export async function selfTest(
  confinement: Confinement,
  account: CommandUser,
  surroundings: SandboxSurroundings,
): Promise<string | undefined> {
  const traps = trapsIn(account, surroundings);
  const host = await listenOnLoopback();
  try {
    await setTraps(traps, account);
    const output = await attempt(confinement, surroundings.workspace, scriptOf(traps, host.port));
    return judge(await observe(output, traps, host), account);
  } catch (error) {
    return `The sandbox could not be tested: ${error instanceof Error ? error.message : error}`;
  } finally {
    host.server.close();
    await removeTraps(traps);
  }
}

/** The results of one attempt. */
export interface Observations {
  /** Everything that the attempt printed. */
  readonly output: string;
  /** Whether the attempt reached its last line. Without that the other fields prove nothing. */
  readonly hasEnded: boolean;
  /** Owner of the file that the attempt wrote in the workspace, as the machine sees it; undefined without a file. */
  readonly writer: number | undefined;
  readonly changedGit: boolean;
  /** Files that the attempt made where none may be made, and kernel settings that it could write. */
  readonly escaped: readonly string[];
  /** Secrets that the attempt could read a part of. */
  readonly revealed: readonly string[];
  readonly reachedHost: boolean;
  readonly sawProcesses: boolean;
  /** Limits that should hold and do not. */
  readonly unbounded: readonly string[];
}

/** A sentence about the first check that failed; undefined when all passed. */
export function judge(seen: Observations, { uid }: Pick<CommandUser, 'uid'>): string | undefined {
  if (!seen.hasEnded) return explainStart(seen.output);
  const failure = failureOf(seen, uid);
  return failure === undefined ? undefined : `The sandbox failed its self-test: ${failure}.`;
}

function failureOf(seen: Observations, uid: number): string | undefined {
  const [escaped] = seen.escaped;
  const [secret] = seen.revealed;
  const [unbounded] = seen.unbounded;
  if (seen.writer === undefined) return 'commands cannot write to the workspace';
  if (seen.writer !== uid || uid === 0) return `commands run as user ${seen.writer}`;
  if (seen.changedGit) return '.git is not read-only';
  if (seen.reachedHost) return 'the network is open';
  if (seen.sawProcesses) return 'the processes of the machine are in sight';
  if (escaped !== undefined) return `${escaped} was written`;
  if (secret !== undefined) return `${secret} is readable`;
  return unbounded === undefined ? undefined : `${unbounded} is not bounded`;
}

/**
 * A sentence on why bubblewrap did not start, by what it printed, and how to fix it. No hint weakens the whole machine to
 * help one program.
 */
export function explainStart(output: string): string {
  const complaint = complaintIn(output);
  const hint = HINTS.find(({ pattern }) => pattern.test(complaint))?.hint;
  return `bubblewrap does not work here (${complaint})${hint === undefined ? '.' : `: ${hint}`}`;
}

const HINTS: readonly { readonly pattern: RegExp; readonly hint: string }[] = [
  {
    pattern: /Unknown option/,
    hint: 'this version of bubblewrap is too old; install 0.8 or newer.',
  },
  {
    pattern: /RTM_NEWADDR|uid map: Permission denied/,
    hint:
      'on Ubuntu 24.04 and later AppArmor forbids it until a profile allows it; add one for /usr/bin/bwrap ' +
      'with "userns," to /etc/apparmor.d/bwrap and reload AppArmor.',
  },
  {
    pattern: /No permissions to create(?: a)? new namespace|Creating new namespace failed/,
    hint: 'this system or container forbids user namespaces; allow them for this user or container.',
  },
  {
    pattern: /Can't mount proc/,
    hint: 'this container masks parts of /proc; start it with an unmasked /proc.',
  },
];

const MAX_COMPLAINT_CHARS = 200;

function complaintIn(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const own = lines.find((line) => line.startsWith('bwrap: '));
  const line = own ?? lines.find((text) => text !== '') ?? 'it printed nothing';
  return line.replace(/^bwrap: /, '').slice(0, MAX_COMPLAINT_CHARS);
}

/** The files that the test lays out for the attempt. All names are new, so removing them removes nothing else. */
interface Traps {
  /** In the workspace, with a repository of its own, because not every workspace has one. */
  readonly folder: string;
  /**
   * In the workspace, beside `folder`. `folder` belongs to us, so a write there proves nothing about a workspace that
   * belongs to another user.
   */
  readonly inside: string;
  readonly gitHead: string;
  /** Files that must not exist after the attempt. */
  readonly outside: readonly string[];
  /** Secrets in the workspace, in the home folders and in our own state. */
  readonly secrets: readonly string[];
}

function trapsIn(
  account: CommandUser,
  { workspace, home, closedFolders }: SandboxSurroundings,
): Traps {
  const name = `.drawbridge-probe-${randomUUID()}`;
  const folder = join(workspace, name);
  const homes = [...new Set([home, account.home])];
  const outside = [...homes, dirname(workspace), '/tmp', '/usr', join(workspace, '.git')];
  const closed = [...homes, ...closedFolders].map((parent) => join(parent, `${name}-secret`));
  return {
    folder,
    inside: join(workspace, `${name}-inside`),
    gitHead: join(folder, '.git', 'HEAD'),
    outside: outside.map((parent) => join(parent, name)),
    secrets: [join(folder, '.env'), ...closed],
  };
}

async function setTraps({ folder, gitHead, secrets }: Traps, account: CommandUser): Promise<void> {
  await mkdir(dirname(gitHead), { recursive: true });
  await writeFile(gitHead, UNTOUCHED);
  // A folder that does not exist yet, or that we cannot write to, holds nothing of ours that must be hidden.
  await Promise.all(secrets.map((path) => writeFile(path, UNTOUCHED).catch(() => {})));
  if (account.prefix.length === 0) return;
  // Files that root owns would be closed to commands for that reason alone.
  const given = [folder, dirname(gitHead), gitHead, ...secrets];
  const { uid, gid } = account;
  await Promise.all(given.map((path) => lchown(path, uid, gid).catch(() => {})));
}

async function removeTraps({ folder, inside, outside, secrets }: Traps): Promise<void> {
  const made = [folder, inside, ...outside, ...secrets];
  // A path that cannot be removed could not be made either.
  await Promise.all(made.map((path) => rm(path, { recursive: true, force: true }).catch(() => {})));
}

const UNTOUCHED = 'untouched\n';
const REVEALED = 'revealed ';
const WRITABLE = 'writable ';
const NETWORK = 'network ';
const PROCESSES = 'processes ';
const LIMITS = 'limits ';
const MOUNT = 'mount ';
const COUNT = 'mounts ';
const END = 'end of the attempt';

/** The script only asks whether it could write to these: a test that succeeds must do no harm. */
const KERNEL_SETTINGS = ['/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/sys/kernel'];

/**
 * The script starts few programs, because the self-test is part of every start. One program (grep) reads the mounts,
 * because a shell reads byte by byte. Bash opens a connection by `/dev/tcp`. Where another shell cannot, the name of
 * the network namespace is the proof. In a `/proc` of another PID namespace the shell has another number.
 */
function scriptOf(traps: Traps, port: number): string {
  const targets = [traps.inside, traps.gitHead, ...traps.outside].map(shellWord).join(' ');
  const secrets = [...traps.secrets, '/etc/shadow'].map(shellWord).join(' ');
  return `
for target in ${targets}; do { echo written >"$target"; } 2>/dev/null; done
{ exec 5<>/dev/tcp/127.0.0.1/${port}; } 2>/dev/null
for secret in ${secrets}; do
  { read -r seen <"$secret"; } 2>/dev/null && echo "${REVEALED}$secret"
done
for setting in ${KERNEL_SETTINGS.join(' ')}; do [ -w "$setting" ] && echo "${WRITABLE}$setting"; done
echo "${LIMITS}$(ulimit -u 2>/dev/null || ulimit -p) $(ulimit -d)"
grep ' - tmpfs ' /proc/self/mountinfo | grep -v '[ ,]size=' | sed 's/^/${MOUNT}/'
grep -c ' - tmpfs ' /proc/self/mountinfo | sed 's/^/${COUNT}/'
echo "${NETWORK}$(readlink /proc/self/ns/net)"
read -r own rest </proc/self/stat
[ "$own" = $$ ] && echo "${PROCESSES}$(readlink /proc/self/ns/pid)"
echo "${END}"`;
}

/** So the attempt runs as a conversation's commands do, in a network that it joins. */
const TEST_CONVERSATION = 'self-test';

async function attempt(confinement: Confinement, cwd: string, command: string): Promise<string> {
  const request = { command, cwd, permissions: [], conversationId: TEST_CONVERSATION };
  const { end, output } = await confinement.start(request, ({ launch }) =>
    runCommand(launch, {
      timeoutMs: COMMAND_LIMITS.probeTimeoutMs,
      onOutput: () => {},
      signal: new AbortController().signal,
    }),
  );
  return end.state === 'not_started' ? end.message : output;
}

async function observe(output: string, traps: Traps, host: LoopbackHost): Promise<Observations> {
  // A connection made until now is announced in the next turn of the event loop.
  await setImmediate();
  const lines = output.split('\n');
  const said = (prefix: string) =>
    lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  const isApart = async (kind: 'net' | 'pid', prefix: string) => {
    const own = await readlink(`/proc/self/ns/${kind}`);
    return said(prefix).some((name) => name.startsWith(`${kind}:`) && name !== own);
  };
  const escaped = await Promise.all(traps.outside.map(exists));
  return {
    output,
    hasEnded: lines.includes(END),
    writer: await ownerOf(traps.inside),
    changedGit: (await readFile(traps.gitHead, 'utf8')) !== UNTOUCHED,
    escaped: [...traps.outside.filter((_, index) => escaped[index]), ...said(WRITABLE)],
    revealed: said(REVEALED),
    reachedHost: host.connections() > 0 || !(await isApart('net', NETWORK)),
    sawProcesses: !(await isApart('pid', PROCESSES)),
    unbounded: [...unboundedLimits(said(LIMITS)), ...unboundedMemory(said(MOUNT), said(COUNT))],
  };
}

function unboundedLimits([line = '']: readonly string[]): string[] {
  const [processes = '', data = ''] = line.split(' ');
  const { maxProcesses, maxDataKib } = SANDBOX_LIMITS;
  return [
    ...(Number(processes) <= maxProcesses ? [] : ['the number of processes']),
    ...(Number(data) <= maxDataKib ? [] : ['the memory of a process']),
  ];
}

/**
 * Returns the writable folders among the mounts in memory that have no size (lines of proc_pid_mountinfo(5)). `count`
 * counts all mounts in memory. A sandbox has several, so zero means that the script could not look.
 */
function unboundedMemory(unsized: readonly string[], [count = '0']: readonly string[]): string[] {
  if (!(Number(count) > 0)) return ['the memory behind folders'];
  return unsized.flatMap((line) => {
    const [, , , , place = '', options = ''] = line.split(' ');
    return options.split(',').includes('ro') ? [] : [place];
  });
}

interface LoopbackHost {
  readonly server: Server;
  readonly port: number;
  readonly connections: () => number;
}

async function listenOnLoopback(): Promise<LoopbackHost> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { server, port, connections: () => connections };
}

async function ownerOf(path: string): Promise<number | undefined> {
  return await stat(path).then(
    ({ uid }) => uid,
    () => undefined,
  );
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
