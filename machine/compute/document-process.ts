/**
 * The process that reads documents (PDF, notebooks, images). A file of a megabyte can unpack to gigabytes, and the bridge
 * serves all folders. It sees nothing but the bytes that it is given: it has no variable, no descriptor of the bridge's,
 * no file but those of its own program, no child, and on Linux, where the system lets it have one, a network of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KIB, MIB } from '../../shared/units.ts';
import { ToolFailure } from '../failure.ts';
import { withoutInherited } from '../inherited.ts';
import { tieToUs } from '../lifeline.ts';
import { printedBy } from '../printed.ts';
import { COMPUTE_LIMITS, DOCUMENT_LIMITS } from './limits.ts';
import type { TaskAnswer } from './messages.ts';
import { TaskRunner, type WorkPlace } from './task-runner.ts';
import { WORKER } from './thread.ts';
import { tooLarge } from './too-complex.ts';

export class DocumentProcess extends TaskRunner {
  constructor(limits: Readonly<Record<'maxMs' | 'idleMs', number>> = COMPUTE_LIMITS) {
    const { pollMs, places } = DOCUMENT_LIMITS;
    super(startProcess, { ...limits, pollMs, places });
  }
}

async function startProcess(signal: AbortSignal): Promise<WorkPlace> {
  const alone = await networkOfItsOwn();
  signal.throwIfAborted();
  const [file, ...args] = [...alone, process.execPath, ...NODE_OPTIONS, PROGRAM] as const;
  const child = spawn(file, args, {
    cwd: '/',
    env: {},
    stdio: withoutInherited(['ignore', 'ignore', 'ignore', 'ipc']),
    serialization: 'advanced',
  });
  // Without a listener an error would end the bridge. The asker gets the end.
  child.on('error', () => {});
  tieToUs(child);
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(DOCUMENT_LIMITS.startMs)]);
    await Promise.race([
      once(child, 'message', { signal: limit }),
      once(child, 'exit', { signal: limit }).then(([code, name]) => {
        throw new Error(`it ended with ${name ?? `exit code ${code}`}`);
      }),
    ]);
    await boundByKernel(child.pid);
  } catch (error) {
    child.kill('SIGKILL');
    signal.throwIfAborted();
    throw notStarted(error);
  }
  return placeOf(child);
}

function placeOf(child: ChildProcess): WorkPlace {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null || !child.connected;
  const keepAlive = (isKept: boolean) => {
    const handles = [child, child.channel];
    for (const handle of handles) {
      if (isKept) handle?.ref();
      else handle?.unref();
    }
  };
  keepAlive(false);
  return {
    ask: (question, { take, fail }) => {
      const onMessage = (answer: unknown) => take(answer as TaskAnswer);
      const onExit = (code: number | null, name: string | null) =>
        // The engine and the kernel end a process that gets no more memory.
        fail(name === null ? new Error(`the reader ended with exit code ${code}`) : tooLarge());
      child.on('message', onMessage).on('exit', onExit);
      child.send(question, (error) => error && fail(error));
      return { [Symbol.dispose]: () => void child.off('message', onMessage).off('exit', onExit) };
    },
    isTooLarge: async () => (await residentKib(child.pid)) > DOCUMENT_LIMITS.maxResidentMb * KIB,
    keepAlive,
    hasEnded,
    end: () => void child.kill('SIGKILL'),
  };
}

const PROGRAM = realpathSync(fileURLToPath(new URL(WORKER, import.meta.url)));

/** The bundle is in a folder of its own; a source imports others of the clone, and packages. */
function readable(): string[] {
  const folder = dirname(PROGRAM);
  if (WORKER.endsWith('.ts')) return [join(folder, '../..')];
  return [folder, join(folder, '../package.json')];
}

/** Without warnings about options that are new. */
const NODE_OPTIONS = [
  '--no-warnings',
  hasPermissions() ? '--permission' : '--experimental-permission',
  ...readable().map((path) => `--allow-fs-read=${path}`),
  `--max-old-space-size=${DOCUMENT_LIMITS.maxHeapMb}`,
];

function hasPermissions(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major >= 24 || (major === 23 && minor >= 5) || (major === 22 && minor >= 13);
}

/** The words before a program that give it a network and a user without rights; none where the system forbids it. */
async function networkOfItsOwn(): Promise<readonly string[]> {
  if (!existsSync(UNSHARE)) return [];
  const words = [UNSHARE, '--user', '--net', '--ipc', '--'] as const;
  const asked = { cwd: '/', env: {}, timeout: DOCUMENT_LIMITS.prepareMs };
  return await printedBy([...words, '/bin/true'], asked).then(
    () => words,
    () => [],
  );
}

const UNSHARE = '/usr/bin/unshare';

/**
 * A look every {@link DOCUMENT_LIMITS.pollMs} comes too late for one large allocation, or where this process is busy. A
 * system without prlimit has the looks alone.
 */
async function boundByKernel(pid: number | undefined): Promise<void> {
  const data = /^VmData:\s*(\d+) kB$/m.exec(statusOf(pid))?.[1];
  if (data === undefined || !existsSync(PRLIMIT)) return;
  const most = Number(data) * KIB + DOCUMENT_LIMITS.maxGrowthMb * MIB;
  const limits = [`--data=${most}`, '--core=0', '--fsize=0'];
  const asked = { cwd: '/', env: {}, timeout: DOCUMENT_LIMITS.prepareMs };
  await printedBy([PRLIMIT, '--pid', `${pid}`, ...limits], asked);
}

const PRLIMIT = '/usr/bin/prlimit';

/** What the process has in memory; zero once it has gone. */
async function residentKib(pid: number | undefined): Promise<number> {
  if (process.platform === 'linux') {
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(statusOf(pid))?.[1] ?? 0);
  }
  const asked = { meant: [0, 1], timeout: DOCUMENT_LIMITS.prepareMs };
  const { output } = await printedBy(['/bin/ps', '-o', 'rss=', '-p', `${pid}`], asked);
  return Number(output);
}

/** Reads proc_pid_status(5). Empty once the process has gone, and on other systems. */
function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}

function notStarted(cause: unknown): ToolFailure {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ToolFailure(
    'READER_FAILED',
    `Documents are read in a process of their own, and it could not be started (${why}): try again, or read the file with a command.`,
    { cause },
  );
}
