/**
 * The PID namespace that a conversation's commands share, so that one of them can signal the processes of another. The
 * processes of one command are those in its mount namespace, which no process can leave or enter.
 */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_LIMITS } from '../../../shared/limits.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { type HeldProcesses, SHELL, type SharedProcesses } from '../terminal/launch.ts';
import type { Holder, HolderOptions } from './holder.ts';

/** Bubblewrap's options for the holder of a PID namespace. */
export const OWN_PROCESSES = ['--unshare-pid', '--as-pid-1', '--proc', '/proc'] as const;

/**
 * The first process of a namespace. No process inside can signal it, and it adopts those that lose their parent. It
 * ignores SIGCHLD, so the kernel removes them when they end. Of the shells only Bash keeps that over `exec`.
 */
export const FIRST_PROCESS: Required<Pick<HolderOptions, 'program'>> = {
  program: [SHELL, '-c', "trap '' CHLD; echo $$; exec cat"],
};

/** Disposed of, it takes no more commands, and ends with the last one that runs in it. */
export class ProcessNamespace implements SharedProcesses, Disposable {
  /** For a program that joins. */
  readonly descriptor: number;
  readonly #holder: Holder;
  /** The `/proc` of the namespace: only its processes, by their numbers inside. */
  readonly #folder: string;
  readonly #descriptors: readonly number[];
  #commands = 0;
  #isDisposed = false;
  #hasEnded = false;

  /** Takes over a holder with {@link OWN_PROCESSES} and {@link FIRST_PROCESS}. */
  constructor(holder: Holder) {
    this.#holder = holder;
    this.descriptor = openSync(`/proc/${holder.pid}/ns/pid`, 'r');
    const folder = openSync(`/proc/${holder.pid}/root/proc`, 'r');
    this.#descriptors = [this.descriptor, folder];
    this.#folder = `/proc/self/fd/${folder}`;
  }

  /** False where its first process was killed, and all others with it. */
  get isAlive(): boolean {
    return listIn(this.#folder)?.length !== 0;
  }

  hold(first: number): HeldProcesses | undefined {
    const mounts = this.#hasEnded ? undefined : this.#openMounts(first);
    if (mounts === undefined) return undefined;
    this.#commands += 1;
    const name = readlinkSync(`/proc/self/fd/${mounts}`);
    return {
      areGone: () => hasNone(this.#look(name)),
      end: async () => {
        await this.#endAll(name);
        closeSync(mounts);
        this.#commands -= 1;
        this.#endIfUnused();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#endIfUnused();
  }

  #endIfUnused(): void {
    if (!this.#isDisposed || this.#commands > 0 || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#holder[Symbol.dispose]();
    for (const descriptor of this.#descriptors) closeSync(descriptor);
  }

  /** As long as the descriptor is open, the kernel gives the name of this mount namespace to no other. */
  #openMounts(first: number): number | undefined {
    try {
      return openSync(`${this.#folder}/${first}/ns/mnt`, 'r');
    } catch {
      return undefined; // It has gone, and has started nothing.
    }
  }

  /** Where they are born faster than they can be found and killed, the whole namespace ends. */
  async #endAll(mounts: string): Promise<void> {
    const deadline = performance.now() + COMMAND_LIMITS.killGraceMs;
    let before: readonly number[] = [];
    for (;;) {
      const seen = this.#look(mounts);
      if (hasNone(seen)) return;
      const { members, isSure } = seen;
      if (members.length > 0) killAllIn(mounts);
      if (performance.now() > deadline) {
        // Processes that are still the same wait in the kernel, where no signal ends them.
        const isSame = members.every((process) => before.includes(process));
        if (!isSure || !isSame) this.#holder[Symbol.dispose]();
        return;
      }
      before = members;
      await sleep(members.length > 0 ? SANDBOX_LIMITS.endPollMs : 0);
    }
  }

  /** A process that went during the look can have left a child behind it. One that cannot be looked at counts as such. */
  #look(mounts: string): Membership {
    const listed = listIn(this.#folder);
    const found = (listed ?? []).map((process) => ({
      process,
      place: mountsOf(`${this.#folder}/${process}`),
    }));
    return {
      members: found.filter(({ place }) => place === mounts).map(({ process }) => process),
      isSure: listed !== undefined && found.every(({ place }) => place !== undefined),
    };
  }
}

/** Which processes a mount namespace has. */
interface Membership {
  readonly members: readonly number[];
  readonly isSure: boolean;
}

function hasNone({ members, isSure }: Membership): boolean {
  return members.length === 0 && isSure;
}

/** Only outside have processes numbers by which this process can signal them. */
function killAllIn(mounts: string): void {
  for (const pid of listIn('/proc') ?? []) {
    if (mountsOf(`/proc/${pid}`) !== mounts) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has gone.
    }
  }
}

/** The processes of a namespace by its `/proc`; none when it has ended. Undefined where no more files can be opened. */
function listIn(folder: string): number[] | undefined {
  try {
    return readdirSync(folder).map(Number).filter(Number.isInteger);
  } catch {
    return undefined;
  }
}

/** Empty for a process that is dead already; undefined for one that has gone, or cannot be looked at. */
function mountsOf(place: string): string | undefined {
  const own = linkIn(place);
  if (own !== undefined) return own;
  // The first thread can be dead while others run.
  for (const thread of threadsOf(place)) {
    const found = linkIn(`${place}/task/${thread}`);
    if (found !== undefined) return found;
  }
  return isDead(place) ? '' : undefined;
}

function linkIn(place: string): string | undefined {
  try {
    return readlinkSync(`${place}/ns/mnt`);
  } catch {
    return undefined;
  }
}

function threadsOf(place: string): string[] {
  try {
    return readdirSync(`${place}/task`);
  } catch {
    return []; // It has gone.
  }
}

/** By proc_pid_stat(5), whose 20th field counts the threads, a dead first one among them. */
function isDead(place: string): boolean {
  try {
    const stat = readFileSync(`${place}/stat`, 'latin1');
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 'ZX'.includes(state) && Number(fields[20 - 4]) <= 1;
  } catch {
    return false;
  }
}
