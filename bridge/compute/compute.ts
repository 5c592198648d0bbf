/** The one entry to long computations: small ones run here at once, all others in a thread of their own. */
import { type InputOf, type OutputOf, TASKS, type TaskName } from './tasks.ts';
import { ComputeThread } from './thread.ts';

/** One thread for the process. It starts with the first task that needs it. */
const thread = new ComputeThread();

/**
 * Does a task. Rejects with the task's own {@link ToolFailure}, with a {@link ToolFailure} of code `TOO_COMPLEX` when
 * the task takes too much time or memory, and with the signal's reason.
 */
export async function compute<Name extends TaskName>(
  name: Name,
  input: InputOf<Name>,
  signal: AbortSignal,
): Promise<OutputOf<Name>> {
  const { run, isLight } = TASKS[name] as {
    readonly run: (input: InputOf<Name>) => OutputOf<Name> | Promise<OutputOf<Name>>;
    readonly isLight: (input: InputOf<Name>) => boolean;
  };
  signal.throwIfAborted();
  return isLight(input) ? await run(input) : await thread.run(name, input, signal);
}
