/** Stops every process that this one has started, directly or not, so that nothing changes during a look. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { newDeferred } from '../../../machine/deferred.ts';
import { SANDBOX_LIMITS } from '../limits.ts';

/**
 * Stops all descendants of this process. They include all sandboxed processes: none can leave this family, because its
 * PID namespace has a first process that adopts all orphans. Rejects when some could not be stopped; then none stays
 * stopped.
 *
 * A process that is started afterwards runs. Until `thaw`, the caller starts only programs that it trusts.
 */
export async function freezeDescendants(): Promise<Freeze> {
  const leave = await enterFreeze();
  try {
    const { thaw, awake } = await freezeAlone();
    const end = () => {
      thaw();
      leave();
    };
    return { thaw: end, awake };
  } catch (error) {
    leave();
    throw error;
  }
}

/** The end of the last freeze. */
let lastFreeze: Promise<void> = Promise.resolve();

/** One freeze at a time: the end of another bridge's freeze in this process would wake what this one has stopped. */
async function enterFreeze(): Promise<() => void> {
  const before = lastFreeze;
  const { promise, resolve } = newDeferred<void>();
  lastFreeze = promise;
  await before;
  return resolve;
}

async function freezeAlone(): Promise<Freeze> {
  const stopped = new Set<number>();
  const thaw = () => {
    for (const pid of stopped) signal(pid, 'SIGCONT');
    stopped.clear();
  };
  const deadline = performance.now() + SANDBOX_LIMITS.freezeMs;
  // A process that forked before it stopped has a child that this look can miss. The next look sees it.
  for (let quietLooks = 0; quietLooks < 2; ) {
    const running = descendants().filter((process) => !process.isStopped);
    quietLooks = running.length === 0 ? quietLooks + 1 : 0;
    for (const { pid } of running) if (signal(pid, 'SIGSTOP')) stopped.add(pid);
    if (performance.now() > deadline) {
      thaw();
      throw new Error('the processes of earlier commands cannot be stopped');
    }
    if (running.length > 0) await sleep(0);
  }
  const still = descendants()
    .map(({ pid }) => ({ pid, switches: switchesOf(pid) }))
    .filter(({ switches }) => switches !== '');
  const hasRun = ({ pid, switches }: (typeof still)[number]) =>
    readProcess(String(pid))?.isStopped !== true || switchesOf(pid) !== switches;
  return { thaw, awake: () => still.filter(hasRun).map(({ pid }) => pid) };
}

export interface Freeze {
  /** Lets the stopped processes continue. */
  readonly thaw: () => void;
  /**
   * The processes that have run since the freeze, or have gone. Nothing keeps a process stopped: its own timer, or a
   * change in a folder that it watches, can send it SIGCONT. If this list is not empty, the look proves nothing.
   */
  readonly awake: () => readonly number[];
}

/**
 * How often each thread was taken off a processor, by proc_pid_status(5). The count grows when a thread runs and rests
 * again. Dead threads are left out.
 */
function switchesOf(pid: number): string {
  return listIfAny(`/proc/${pid}/task`)
    .flatMap((thread) => {
      const status = readIfAny(`/proc/${pid}/task/${thread}/status`) ?? '';
      const isDead = /^State:\s+[ZX]/m.test(status);
      return isDead ? [] : [thread, ...(status.match(/^\w+_ctxt_switches:.*$/gm) ?? [])];
    })
    .join();
}

export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Stopped, dead, or waiting for a stopped child. */
  readonly isStopped: boolean;
}

/** All processes that this process, or `root`, has started, directly or not; the oldest generation first. */
export function descendants(root: number = process.pid): Process[] {
  const children = new Map<number, Process[]>();
  for (const child of readProcesses()) {
    const siblings = children.get(child.parent);
    if (siblings) siblings.push(child);
    else children.set(child.parent, [child]);
  }
  const family: Process[] = [];
  const parents = [root];
  for (const parent of parents) {
    for (const child of children.get(parent) ?? []) {
      family.push(child);
      parents.push(child.pid);
    }
  }
  return family;
}

function readProcesses(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readProcess(pid) ?? []);
}

/** Reads proc_pid_stat(5): state and parent follow the name in parentheses. */
function readProcess(pid: string): Process | undefined {
  const stat = readIfAny(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const mayRest = AT_REST.has(state) || state === WAITING;
  return {
    pid: Number(pid),
    parent: Number(parent),
    isStopped: mayRest && isEachThreadAtRest(pid),
  };
}

/** Stopped, traced, or dead. */
const AT_REST: ReadonlySet<string> = new Set(['T', 't', 'Z', 'X']);
/** Waiting for something that no signal interrupts. */
const WAITING = 'D';

/** Each thread stops on its own, and the first one may be dead while others run. */
function isEachThreadAtRest(pid: string): boolean {
  return listIfAny(`/proc/${pid}/task`).every((thread) => {
    const stat = readIfAny(`/proc/${pid}/task/${thread}/stat`);
    if (stat === undefined) return true;
    const state = stat.charAt(stat.lastIndexOf(')') + 2);
    return (
      AT_REST.has(state) || (state === WAITING && waitsForChild(`/proc/${pid}/task/${thread}`))
    );
  });
}

/**
 * Between vfork(2) and its child's exec no signal stops the parent. The parent does nothing until the child continues.
 */
function waitsForChild(thread: string): boolean {
  const [call = ''] = (readIfAny(`${thread}/syscall`) ?? '').split(' ');
  return (FORKS[process.arch] ?? []).includes(Number(call));
}

/** The numbers of clone, vfork and clone3 on each processor's Linux. */
const FORKS: Readonly<Record<string, readonly number[]>> = {
  x64: [56, 58, 435],
  arm64: [220, 435],
};

function listIfAny(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // Gone since it was listed.
  }
}

function readIfAny(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined; // Gone since it was listed.
  }
}

/** Sends a signal. Returns whether the process still existed. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // The process has gone, or belongs to another user now. Then it cannot be stopped, and the deadline catches that.
    return false;
  }
}
