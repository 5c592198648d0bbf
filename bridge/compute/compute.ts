/**
 * The one entry to long computations: small ones run here at once, documents are read in a process of their own, all
 * others run in a thread.
 */

import { DocumentProcess } from './document-process.ts';
import { type InputOf, type OutputOf, TASKS, type TaskName } from './tasks.ts';
import { ComputeThread } from './thread.ts';

/** One of each for this process. They start with the first task that needs them. */
const thread = new ComputeThread();
const documents = new DocumentProcess();

/**
 * Does a task. Rejects with the task's own {@link ToolFailure}, with a {@link ToolFailure} of code `TOO_COMPLEX` when
 * the task takes too much time or memory, and with the signal's reason.
 */
export async function compute<Name extends TaskName>(
  name: Name,
  input: InputOf<Name>,
  signal: AbortSignal,
): Promise<OutputOf<Name>> {
  const { run, isLight, isDocument } = TASKS[name] as {
    readonly run: (input: InputOf<Name>) => OutputOf<Name> | Promise<OutputOf<Name>>;
    readonly isLight: (input: InputOf<Name>) => boolean;
    readonly isDocument: (input: InputOf<Name>) => boolean;
  };
  signal.throwIfAborted();
  if (isLight(input)) return await run(input);
  return await (isDocument(input) ? documents : thread).run(name, input, signal);
}
