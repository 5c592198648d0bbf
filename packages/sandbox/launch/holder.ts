/**
 * A process that holds a namespace open: bubblewrap with all mounts made, and a program inside that waits for its end.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { type BytePath, toBytes } from '../../../machine/byte-path.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { descendants } from './freeze.ts';

/** Ends with its bridge, or on disposal. */
export interface Holder extends Disposable {
  /** Number of the program inside, as the bridge sees it. */
  readonly pid: number;
  /** Descriptors of the user and the mount namespace. Unlike a process number, they are never reused for another. */
  readonly namespaces: readonly [user: number, mounts: number];
  /** The mounts by their ids, as the kernel has them now; none when the process has gone. */
  readonly mounts: () => ReadonlyMap<number, Mount>;
}

export interface HolderOptions {
  readonly entry?: Entry | undefined;
  /** Prints its number when it begins. */
  readonly program?: readonly string[];
}

/** A line of proc_pid_mountinfo(5). */
export interface Mount {
  /** The path of the mount. It follows its folder through every move, from whatever namespace. */
  readonly place: BytePath;
  readonly isReadOnly: boolean;
  readonly fileSystem: string;
}

/** A user namespace in which bubblewrap starts, by its descriptor, and the program that enters it. */
export interface Entry {
  readonly nsenter: string;
  readonly user: number;
}

/** Starts bubblewrap with these arguments (bytes, see BytePath). Rejects with bubblewrap's error message. */
export async function startHolder(
  prefix: readonly string[],
  file: string,
  args: readonly BytePath[],
  { entry, program: inside = WAITING }: HolderOptions = {},
): Promise<Holder> {
  const enter = entry
    ? [entry.nsenter, '--user=/proc/self/fd/4', '--preserve-credentials', '--']
    : [];
  const [program = file, ...rest] = [...prefix, ...enter, file];
  const child = spawn(program, [...rest, '--args', '3', '--', ...inside], {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', ...(entry ? [entry.user] : [])],
    detached: true,
  });
  writeArguments(child, args);
  const said = Number.parseInt(await firstLine(child), 10);
  const pid = said === FIRST_OF_ITS_NAMESPACE ? (descendants(child.pid)[0]?.pid ?? -1) : said;
  const namespaces = ['user', 'mnt'].map((name) => openSync(`/proc/${pid}/ns/${name}`, 'r'));
  const [user = -1, mounts = -1] = namespaces;
  // The child ends with this process, and must not keep this process alive.
  for (const handle of [child, child.stdin, child.stdout, child.stderr]) {
    if (handle !== null && 'unref' in handle && typeof handle.unref === 'function') handle.unref();
  }
  let isDisposed = false;
  return {
    pid,
    namespaces: [user, mounts],
    mounts: () => readMounts(pid),
    [Symbol.dispose]: () => {
      if (isDisposed) return;
      isDisposed = true;
      for (const descriptor of namespaces) closeSync(descriptor);
      child.kill('SIGKILL');
    },
  };
}

/** Waits for a line that never comes. */
const WAITING = ['/bin/sh', '-c', 'echo $$; read _'] as const;

const FIRST_OF_ITS_NAMESPACE = 1;

function writeArguments(child: ChildProcess, args: readonly BytePath[]): void {
  // It has no streams where this process may open no more files: then it only reports its error.
  const input = child.stdio?.[3];
  if (input === null || input === undefined || !('end' in input)) return;
  // A program that ends before it has read its arguments says why by its exit.
  input.on('error', () => {}).end(Buffer.concat(args.map((arg) => toBytes(`${arg}\0`))));
  child.stdin?.on('error', () => {});
}

/** The line that the program inside prints when all mounts are made. */
async function firstLine(child: ChildProcess): Promise<string> {
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(0, SANDBOX_LIMITS.maxComplaintChars);
  });
  const signal = AbortSignal.timeout(SANDBOX_LIMITS.baseMs);
  const closed = once(child, 'close', { signal }).then(() => undefined);
  const { stdout } = child;
  try {
    const line = await (stdout
      ? Promise.race([once(stdout.setEncoding('utf8'), 'data', { signal }), closed])
      : closed);
    if (line !== undefined) return String(line[0]);
    throw new Error(complaint === '' ? 'bubblewrap ended without a message' : complaint.trim());
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    closed.catch(() => {});
  }
}

/** The mounts of a process by their ids; none when the process has gone. */
export function readMounts(pid: number): ReadonlyMap<number, Mount> {
  try {
    const lines = readFileSync(`/proc/${pid}/mountinfo`, 'latin1').split('\n').slice(0, -1);
    return new Map(lines.map(parseMount));
  } catch {
    // The process has gone, and its namespace with it.
    return new Map();
  }
}

/** `36 35 98:0 /root /place rw,noatime master:1 - ext4 /dev/sda rw` */
function parseMount(line: string): [id: number, mount: Mount] {
  const [head = '', tail = ''] = line.split(' - ');
  const [id, , , , place = '', options = ''] = head.split(' ');
  const [fileSystem = ''] = tail.split(' ');
  const mount = {
    place: fromOctal(place),
    isReadOnly: options.split(',').includes('ro'),
    fileSystem,
  };
  return [Number(id), mount];
}

/** The kernel writes blanks, line ends and backslashes in octal. */
function fromOctal(text: string): BytePath {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
