/** Commands that outlive their call: servers and watchers. They end with the bridge. */
import { newDeferred } from '../../machine/deferred.ts';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import type { Launch } from './launch.ts';
import { LiveOutput } from './live-output.ts';
import { BoundedOutput } from './output.ts';
import { CANCELLED_BEFORE_START, type CommandOutcome } from './run-command.ts';
import { type CommandEnd, RunningCommand } from './running-command.ts';

/** A background command when its call returns: it still runs, or it has already ended like any other command. */
export type BackgroundOutcome = Omit<CommandOutcome, 'end'> & {
  readonly end: CommandEnd | StillRunning;
};

interface StillRunning {
  readonly state: 'running';
  readonly pid: number;
  /** Settles when all of its processes have gone. */
  readonly ended: Promise<unknown>;
}

/** The background commands of one bridge. */
export class BackgroundProcesses {
  readonly #running = new Set<RunningCommand>();
  #hasEnded = false;

  get isFull(): boolean {
    return this.#running.size >= COMMAND_LIMITS.maxBackground;
  }

  /**
   * Starts a command. Returns at its first quiet moment, or when it ends before that. Until then the signal ends it;
   * later only {@link endAll} does. Its output is read to the end, so that the command never blocks, and is kept
   * bounded. After {@link endAll} it starts nothing: a call may have been on its way here.
   */
  async start(
    launch: Launch,
    { onOutput, signal }: { onOutput: (text: string) => void; signal: AbortSignal },
  ): Promise<BackgroundOutcome> {
    if (signal.aborted || this.#hasEnded) return CANCELLED_BEFORE_START;
    const startedAt = performance.now();
    const kept = new BoundedOutput();
    const live = new LiveOutput(onOutput);
    const quiet = new QuietPeriod();
    const command = new RunningCommand(launch, (text) => {
      kept.append(text);
      live.append(text);
      quiet.interrupt();
    });
    this.#hold(command);
    const cancel = () => command.stop('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    const end = await Promise.race([
      command.ended,
      quiet.reached.then(() => stillRunning(command)),
    ]);
    signal.removeEventListener('abort', cancel);
    quiet.end();
    live.end();
    return { end, output: kept.toString(), durationMs: performance.now() - startedAt };
  }

  /** Ends all commands, and returns when they have gone. May be called twice. */
  async endAll(): Promise<void> {
    this.#hasEnded = true;
    for (const command of this.#running) command.stop('cancelled');
    await Promise.all([...this.#running].map((command) => command.ended));
  }

  #hold(command: RunningCommand): void {
    this.#running.add(command);
    void command.ended.then(() => this.#running.delete(command));
  }
}

async function stillRunning(command: RunningCommand): Promise<BackgroundOutcome['end']> {
  // Without a process id the command could not be started. Its own end says so.
  const { pid, ended } = command;
  return pid === undefined ? await ended : { state: 'running', pid, ended };
}

/** Waits until a program that prints is quiet. Begins with its construction. */
class QuietPeriod {
  /** Resolves after `backgroundQuietMs` without an interruption, or after `backgroundWaitMs` in any case. */
  readonly reached: Promise<void>;
  readonly #limit: NodeJS.Timeout;
  readonly #quiet: NodeJS.Timeout;
  #isOver = false;

  constructor() {
    const { promise, resolve } = newDeferred<void>();
    this.reached = promise;
    this.#limit = setTimeout(resolve, COMMAND_LIMITS.backgroundWaitMs);
    this.#quiet = setTimeout(resolve, COMMAND_LIMITS.backgroundQuietMs);
  }

  interrupt(): void {
    if (!this.#isOver) this.#quiet.refresh();
  }

  /** Stops the timers, which would otherwise keep the process alive. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#limit);
    clearTimeout(this.#quiet);
  }
}
