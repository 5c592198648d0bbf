/** Proves a sandbox: runs a command in it that tries to get out, and looks from outside what came of it. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import { runCommand } from '../terminal/run-command.ts';
import type { Confinement, Surroundings } from './confinement.ts';
import { homeSecrets } from './home-secrets.ts';
import { explainStart } from './start-failure.ts';

/** Undefined when every check passed, else one sentence on what did not. Removes all that it made. */
export async function selfTest(
  confinement: Confinement,
  surroundings: Surroundings,
): Promise<string | undefined> {
  const traps = trapsIn(surroundings);
  const host = await listenOnLoopback();
  try {
    await setTraps(traps);
    const script = scriptOf(traps, host.port, await homeSecrets(surroundings.home));
    const output = await attempt(confinement, traps.folder, script);
    return judge(await observe(output, traps, host));
  } catch (error) {
    return `The sandbox could not be tested: ${error instanceof Error ? error.message : error}`;
  } finally {
    host.server.close();
    await removeTraps(traps);
  }
}

/** What was seen of an attempt. */
export interface Observations {
  /** All that the attempt printed. */
  readonly output: string;
  /** Whether its last line was reached; without it nothing else here proves anything. */
  readonly hasEnded: boolean;
  readonly wroteInside: boolean;
  readonly changedGit: boolean;
  /** Files that came into being where none may. */
  readonly escaped: readonly string[];
  /** Secrets it could read something of. */
  readonly revealed: readonly string[];
  readonly reachedHost: boolean;
}

/** The first thing that is not as it must be, as a sentence. */
export function judge(seen: Observations): string | undefined {
  if (!seen.hasEnded) return explainStart(seen.output);
  if (!seen.wroteInside)
    return 'The sandbox failed its self-test: commands cannot write to the workspace.';
  if (seen.changedGit) return 'The sandbox failed its self-test: .git is not read-only.';
  if (seen.reachedHost) return 'The sandbox failed its self-test: the network is open.';
  const [escaped] = seen.escaped;
  if (escaped !== undefined) return `The sandbox failed its self-test: ${escaped} was written.`;
  const [secret] = seen.revealed;
  if (secret !== undefined) return `The sandbox failed its self-test: ${secret} is readable.`;
  return undefined;
}

/** What is laid out for the attempt. All names are new, so that removing them removes nothing else. */
interface Traps {
  /** In the workspace, with a repository of its own: not every workspace has one. */
  readonly folder: string;
  /** Beside it: that we may write to our own folder says nothing of a workspace that belongs to another user. */
  readonly inside: string;
  readonly gitHead: string;
  /** Must not exist afterwards. */
  readonly outside: readonly string[];
  /** In our own state, which is closed to commands. */
  readonly secrets: readonly string[];
}

function trapsIn({ workspace, home, closedFolders }: Surroundings): Traps {
  const name = `.drawbridge-probe-${randomUUID()}`;
  const folder = join(workspace, name);
  const outside = [home, dirname(workspace), tmpdir(), join(workspace, '.git')];
  return {
    folder,
    inside: join(workspace, `${name}-inside`),
    gitHead: join(folder, '.git', 'HEAD'),
    outside: outside.map((parent) => join(parent, name)),
    secrets: closedFolders.map((closed) => join(closed, name)),
  };
}

async function setTraps({ gitHead, secrets }: Traps): Promise<void> {
  await mkdir(dirname(gitHead), { recursive: true });
  await writeFile(gitHead, UNTOUCHED);
  // A state folder that does not exist yet has nothing to hide.
  await Promise.all(secrets.map((path) => writeFile(path, UNTOUCHED).catch(() => {})));
}

async function removeTraps({ folder, inside, outside, secrets }: Traps): Promise<void> {
  const made = [folder, inside, ...outside, ...secrets];
  // What cannot be removed could not be made either.
  await Promise.all(made.map((path) => rm(path, { recursive: true, force: true }).catch(() => {})));
}

const UNTOUCHED = 'untouched\n';
const REVEALED = 'revealed ';
const NETWORK = 'network ';
const END = 'end of the attempt';

/** Bash opens a connection by `/dev/tcp`; where another shell cannot, the name of the network namespace is the proof. */
function scriptOf(traps: Traps, port: number, homeSecretPaths: readonly string[]): string {
  const targets = [traps.inside, traps.gitHead, ...traps.outside].map(quote).join(' ');
  const secrets = [...traps.secrets, ...homeSecretPaths].map(quote).join(' ');
  return `
for target in ${targets}; do (echo written >"$target"); done
(exec 3<>/dev/tcp/127.0.0.1/${port})
for secret in ${secrets}; do
  if [ -d "$secret" ]; then seen=$(ls -A "$secret"); else seen=$(head -c 1 "$secret"); fi
  if [ -n "$seen" ]; then echo "${REVEALED}$secret"; fi
done 2>/dev/null
echo "${NETWORK}$(readlink /proc/self/ns/net)"
echo "${END}"`;
}

async function attempt(confinement: Confinement, cwd: string, command: string): Promise<string> {
  const { launch } = await confinement.prepare({ command, cwd, permissions: [] });
  const { end, output } = await runCommand(launch, {
    timeoutMs: COMMAND_LIMITS.probeTimeoutMs,
    onOutput: () => {},
    signal: new AbortController().signal,
  });
  return end.state === 'not_started' ? end.message : output;
}

async function observe(output: string, traps: Traps, host: LoopbackHost): Promise<Observations> {
  // A connection made until now is announced with the next turn of the loop.
  await setImmediate();
  const lines = output.split('\n');
  const hostNetwork = NETWORK + (await readlink('/proc/self/ns/net'));
  const isApart = lines.some((line) => line.startsWith(`${NETWORK}net:`) && line !== hostNetwork);
  const escaped = await Promise.all(traps.outside.map(exists));
  return {
    output,
    hasEnded: lines.includes(END),
    wroteInside: await exists(traps.inside),
    changedGit: (await readFile(traps.gitHead, 'utf8')) !== UNTOUCHED,
    escaped: traps.outside.filter((_, index) => escaped[index]),
    revealed: lines
      .filter((line) => line.startsWith(REVEALED))
      .map((line) => line.slice(REVEALED.length)),
    reachedHost: host.connections() > 0 || !isApart,
  };
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

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** For a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
