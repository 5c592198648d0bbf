/** Runs a command to its end, its time limit or its cancellation, whichever is first. */

import { addAbortListener } from 'node:events';
import type { Launch } from './launch.ts';
import { LiveOutput } from './live-output.ts';
import { BoundedOutput } from './output.ts';
import { type CommandEnd, RunningCommand } from './running-command.ts';
import type { ShellReport } from './shell-report.ts';

/** The outcome of a command. */
export interface CommandOutcome {
  readonly end: CommandEnd;
  /** Both outputs in the order of writing: head and tail. */
  readonly output: string;
  readonly durationMs: number;
  /** Of a command that ended by itself and whose launch asks for it. */
  readonly shell?: ShellReport | undefined;
}

/**
 * Settles when every process of the command has gone. Never rejects because of the command. `onOutput` gets the output
 * while it comes, in few pieces and up to a bound. `kept` takes all of it. With an aborted signal it starts nothing.
 */
export async function runCommand(
  launch: Launch,
  {
    timeoutMs,
    onOutput,
    signal,
    kept = new BoundedOutput(),
  }: {
    timeoutMs: number;
    onOutput: (text: string) => void;
    signal: AbortSignal;
    kept?: BoundedOutput;
  },
): Promise<CommandOutcome> {
  if (signal.aborted) return CANCELLED_BEFORE_START;
  const startedAt = performance.now();
  const live = new LiveOutput(onOutput);
  const command = new RunningCommand(launch, (text) => {
    kept.append(text);
    live.append(text);
  });
  const limit = setTimeout(() => command.stop('timeout'), timeoutMs);
  using _cancelling = addAbortListener(signal, () => command.stop('cancelled'));
  try {
    const end = await command.ended;
    const durationMs = performance.now() - startedAt;
    const shell = end.state === 'exited' ? await command.shellReport() : undefined;
    return { end, output: kept.toString(), durationMs, shell };
  } finally {
    clearTimeout(limit);
    live.end();
  }
}

/** The outcome of a call that was cancelled while it waited. */
export const CANCELLED_BEFORE_START: CommandOutcome = {
  end: { state: 'stopped', reason: 'cancelled' },
  output: '',
  durationMs: 0,
};
