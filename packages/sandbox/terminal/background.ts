/** Commands that outlive their call: servers and watchers. They end with the bridge. */
import { newDeferred } from '../../../machine/deferred.ts';
import type { Launch } from './launch.ts';
import { TERMINAL_LIMITS } from './limits.ts';
import { LiveOutput } from './live-output.ts';
import { BoundedOutput } from './output.ts';
import { type CommandFacts, type KnownProcess, ProcessBook } from './process-book.ts';
import { CANCELLED_BEFORE_START, type CommandOutcome } from './run-command.ts';
import { type CommandEnd, RunningCommand } from './running-command.ts';

/** A background command when its call returns: it still runs, or it has already ended like any other command. */
export type BackgroundOutcome = Omit<CommandOutcome, 'end'> & {
  readonly end: CommandEnd | StillRunning;
};

interface StillRunning {
  readonly state: 'running';
  readonly process: KnownProcess;
  /** Settles when all of its processes have gone. */
  readonly ended: Promise<unknown>;
}

interface Start {
  readonly about: CommandFacts;
  readonly onOutput: (text: string) => void;
  readonly signal: AbortSignal;
}

/** The background commands of one workspace or worktree. */
export class BackgroundProcesses {
  /** Has their handles, and may have those of other places. */
  readonly book: ProcessBook;
  readonly #running = new Set<RunningCommand>();
  #hasEnded = false;

  constructor(book: ProcessBook = new ProcessBook()) {
    this.book = book;
  }

  get isFull(): boolean {
    return this.#running.size >= TERMINAL_LIMITS.maxBackground;
  }

  /**
   * Starts a command. Returns at its first quiet moment, or when it ends before that. Until then the signal ends it;
   * later its handle and {@link endAll} do. Its output is read to the end, so that the command never blocks, and is kept
   * bounded. After {@link endAll} it starts nothing: a call may have been on its way here.
   */
  async start(launch: Launch, { about, onOutput, signal }: Start): Promise<BackgroundOutcome> {
    if (signal.aborted || this.#hasEnded) return CANCELLED_BEFORE_START;
    const startedAt = performance.now();
    const startedAtMs = Date.now();
    const output = new BoundedOutput(TERMINAL_LIMITS.keptTailChars);
    const live = new LiveOutput(onOutput);
    const quiet = new QuietPeriod();
    const take = (text: string) => {
      output.append(text);
      live.append(text);
      quiet.interrupt();
    };
    const command = new RunningCommand(launch, take, { hasInput: true });
    this.#hold(command);
    const cancel = () => command.stop('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    const ended = await Promise.race([command.ended, quiet.reached.then(() => undefined)]);
    // Without a process id the command could not be started. Its own end says so.
    const isRunning = ended === undefined && command.pid !== undefined;
    const end = isRunning
      ? this.#stillRunning(about, command, { output, startedAtMs })
      : (ended ?? (await command.ended));
    signal.removeEventListener('abort', cancel);
    quiet.end();
    live.end();
    return { end, output: output.toString(), durationMs: performance.now() - startedAt };
  }

  /** Ends all commands, and returns when they have gone. May be called twice. */
  async endAll(): Promise<void> {
    this.#hasEnded = true;
    for (const command of this.#running) command.stop('cancelled');
    await Promise.all([...this.#running].map((command) => command.ended));
  }

  #stillRunning(
    about: CommandFacts,
    command: RunningCommand,
    work: Pick<KnownProcess, 'output' | 'startedAtMs'>,
  ): StillRunning {
    const process = this.book.add(about, { ...work, state: { state: 'running', command } });
    const ended = command.ended.then((end) => this.book.end(process, end));
    return { state: 'running', process, ended };
  }

  #hold(command: RunningCommand): void {
    this.#running.add(command);
    void command.ended.then(() => this.#running.delete(command));
  }
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
    this.#limit = setTimeout(resolve, TERMINAL_LIMITS.backgroundWaitMs);
    this.#quiet = setTimeout(resolve, TERMINAL_LIMITS.backgroundQuietMs);
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
