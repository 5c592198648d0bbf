/** Commands that outlive their call: servers and watchers. They end with the bridge. */
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import type { Launch } from './launch.ts';
import { LiveOutput } from './live-output.ts';
import { BoundedOutput } from './output.ts';
import { QuietPeriod } from './quiet-period.ts';
import { CANCELLED_BEFORE_START, type CommandOutcome } from './run-command.ts';
import { type CommandEnd, RunningCommand } from './running-command.ts';

/** A background command at the moment its call returns: still running, or ended already like any other. */
export type BackgroundOutcome = Omit<CommandOutcome, 'end'> & {
  readonly end: CommandEnd | StillRunning;
};

interface StillRunning {
  readonly state: 'running';
  readonly pid: number;
  /** Settles when all of its processes are gone. */
  readonly ended: Promise<unknown>;
}

/** The background commands of one bridge. */
export class BackgroundProcesses {
  readonly #running = new Set<RunningCommand>();

  get isFull(): boolean {
    return this.#running.size >= COMMAND_LIMITS.maxBackground;
  }

  /**
   * Starts a command and returns at its first quiet moment, or when it ends before that. Until then the signal ends
   * it; later only {@link endAll} does. Its output goes on being read, so that it never blocks, and stays bounded.
   */
  async start(
    launch: Launch,
    { onOutput, signal }: { onOutput: (text: string) => void; signal: AbortSignal },
  ): Promise<BackgroundOutcome> {
    if (signal.aborted) return CANCELLED_BEFORE_START;
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

  /** Returns when all of them are gone. May be called twice. */
  async endAll(): Promise<void> {
    for (const command of this.#running) command.stop('cancelled');
    await Promise.all([...this.#running].map((command) => command.ended));
  }

  #hold(command: RunningCommand): void {
    this.#running.add(command);
    void command.ended.then(() => this.#running.delete(command));
  }
}

async function stillRunning(command: RunningCommand): Promise<BackgroundOutcome['end']> {
  // Without a process id it could not be started: its own end says so.
  const { pid, ended } = command;
  return pid === undefined ? await ended : { state: 'running', pid, ended };
}
