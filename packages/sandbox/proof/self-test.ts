/** Proves a sandbox: runs a command in it that tries to get out, and checks from outside what the command achieved. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access, lchown, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { shellWord } from '../../../machine/shell-word.ts';
import { COMMAND_LIMITS } from '../../../shared/limits.ts';
import type { CommandUser } from '../account.ts';
import type { CommandRequest, Confinement, SandboxSurroundings } from '../launch/confinement.ts';
import { runCommand } from '../terminal/run-command.ts';
import { LINUX_PROBES } from './linux-probes.ts';
import { type MacTraps, macProbes } from './mac-probes.ts';
import { NO_PROBES, type Probes, SAID, type Said } from './probes.ts';

/**
 * Undefined when every check passed, else one sentence about the check that failed. Removes everything that it made.
 */
export async function selfTest(
  confinement: Confinement,
  account: CommandUser,
  surroundings: SandboxSurroundings,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const traps = trapsIn(account, surroundings);
  try {
    using host = await openHost(confinement);
    await setTraps(traps, account);
    const probes = probesFor(confinement, platform, { ...traps, ...surroundings, ...host });
    const script = scriptOf(traps, host.port, probes);
    const output = await attempts(confinement, surroundings.workspace, { ...probes, script });
    return judge(await observe(output, traps, host, probes), account, programOf(confinement));
  } catch (error) {
    return `The sandbox could not be tested: ${error instanceof Error ? error.message : error}`;
  } finally {
    confinement.forget?.(TEST_CONVERSATION);
    await removeTraps(traps);
  }
}

function probesFor({ kind }: Confinement, platform: NodeJS.Platform, around: MacTraps): Probes {
  if (kind !== 'sandbox-runtime') return LINUX_PROBES;
  return platform === 'darwin' ? macProbes(around) : NO_PROBES;
}

function programOf({ kind }: Confinement): string {
  return kind === 'sandbox-runtime' ? kind : 'bubblewrap';
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
  /** Files that the attempt made where none may be made, and others that it could write. */
  readonly escaped: readonly string[];
  /** Secrets that the attempt could read a part of. */
  readonly revealed: readonly string[];
  readonly reachedHost: boolean;
  readonly sawProcesses: boolean;
  /** Limits that should hold and do not. */
  readonly unbounded: readonly string[];
}

/** A sentence about the first check that failed; undefined when all passed. */
function judge(
  seen: Observations,
  { uid }: Pick<CommandUser, 'uid'>,
  program: string,
): string | undefined {
  if (!seen.hasEnded) return explainStart(seen.output, program);
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
 * A sentence on why the sandbox's program did not start, by what it printed, and how to fix it. No hint weakens the whole
 * machine to help one program.
 */
export function explainStart(output: string, program = 'bubblewrap'): string {
  const complaint = complaintIn(output);
  const hint = HINTS.find(({ pattern }) => pattern.test(complaint))?.hint;
  return `${program} does not work here (${complaint})${hint === undefined ? '.' : `: ${hint}`}`;
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
const END = 'end of the attempt';

/**
 * The script starts few programs, because the self-test is part of every start. Bash opens a connection by `/dev/tcp`.
 */
function scriptOf(traps: Traps, port: number, probes: Probes): string {
  const outside = [...traps.outside, ...probes.outside];
  const targets = [traps.inside, traps.gitHead, ...outside].map(shellWord).join(' ');
  const secrets = [...traps.secrets, ...probes.secrets].map(shellWord).join(' ');
  return `
for target in ${targets}; do { echo written >"$target"; } 2>/dev/null; done
{ exec 5<>/dev/tcp/127.0.0.1/${port}; } 2>/dev/null
for secret in ${secrets}; do
  { read -r seen <"$secret"; } 2>/dev/null && echo "${SAID.revealed}$secret"
done
${probes.script}
echo "${END}"`;
}

/** So the attempt runs as a conversation's commands do, in a network that it joins. */
const TEST_CONVERSATION = 'self-test';

/** Everything that the attempts print, those with permissions last. */
async function attempts(
  confinement: Confinement,
  cwd: string,
  { script, allowed }: Pick<Probes, 'script' | 'allowed'>,
): Promise<string> {
  let output = await attempt(confinement, { cwd, command: script, permissions: [] });
  for (const { permissions, script: inner } of allowed) {
    const command = `${inner}\necho "${END}"`;
    output += await attempt(confinement, { cwd, command, permissions });
  }
  return output;
}

async function attempt(
  confinement: Confinement,
  asked: Pick<CommandRequest, 'command' | 'cwd' | 'permissions'>,
): Promise<string> {
  const request = { ...asked, conversationId: TEST_CONVERSATION };
  const { end, output } = await confinement.start(request, ({ launch }) =>
    runCommand(launch, {
      timeoutMs: COMMAND_LIMITS.probeTimeoutMs,
      onOutput: () => {},
      signal: new AbortController().signal,
    }),
  );
  return end.state === 'not_started' ? end.message : output;
}

async function observe(
  output: string,
  traps: Traps,
  host: Host,
  probes: Probes,
): Promise<Observations> {
  // A connection made until now is announced in the next turn of the event loop.
  await setImmediate();
  const lines = output.split('\n');
  const said: Said = (prefix) =>
    lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  const outside = [...traps.outside, ...probes.outside];
  const escaped = await Promise.all(outside.map(exists));
  const { isApart, sawProcesses, unbounded } = await probes.judge(said);
  const isReached = host.connections() > 0 || said(SAID.reached).length > 0;
  return {
    output,
    hasEnded: lines.filter((line) => line === END).length === 1 + probes.allowed.length,
    writer: await ownerOf(traps.inside),
    changedGit: (await readFile(traps.gitHead, 'utf8')) !== UNTOUCHED,
    escaped: [...outside.filter((_, index) => escaped[index]), ...said(SAID.escaped)],
    revealed: said(SAID.revealed),
    reachedHost: isReached || !isApart,
    sawProcesses,
    unbounded,
  };
}

/** Servers of the machine that no command may reach. */
interface Host extends Disposable {
  /** On the loopback interface. */
  readonly port: number;
  /** The path of a Unix socket, which is open where only the runtime's rules close it. */
  readonly socket: string;
  readonly connections: () => number;
}

async function openHost({ kind }: Confinement): Promise<Host> {
  let connections = 0;
  // No other folder has a path that is short enough everywhere. Bubblewrap shows commands no such folder.
  const socket = `/tmp/drawbridge-${randomUUID()}`;
  const places = [{ port: 0, host: '127.0.0.1' }, { path: socket }];
  const servers = places.slice(0, kind === 'sandbox-runtime' ? 2 : 1).map((place) =>
    createServer((client) => {
      connections++;
      client.destroy();
    }).listen(place),
  );
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const address = servers[0]?.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    socket,
    connections: () => connections,
    [Symbol.dispose]: () => {
      for (const server of servers) server.close();
    },
  };
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
