/** The one door to long computations: small ones are done here and now, all others in a thread of their own. */
import { type InputOf, type OutputOf, TASKS, type TaskName } from './tasks.ts';
import { ComputeThread } from './thread.ts';

/** One for the process; it starts with the first task that needs it. */
const thread = new ComputeThread();

/**
 * Does a task. Rejects with the {@link ToolFailure} that the task throws, with one of code `TOO_COMPLEX` where it takes too
 * much time or memory, and with the signal's reason.
 */
export async function compute<Name extends TaskName>(
  name: Name,
  input: InputOf<Name>,
  signal: AbortSignal,
): Promise<OutputOf<Name>> {
  const { run, isLight } = TASKS[name] as {
    readonly run: (input: InputOf<Name>) => OutputOf<Name>;
    readonly isLight: (input: InputOf<Name>) => boolean;
  };
  signal.throwIfAborted();
  return isLight(input) ? run(input) : await thread.run(name, input, signal);
}
