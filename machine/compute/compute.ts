/**
 * The one entry to long computations: small ones run here at once, documents are read in a process of their own, all
 * others run in a thread.
 */

import { DocumentProcess } from './document-process.ts';
import type { Task } from './task.ts';
import { ComputeThread } from './thread.ts';

/** One of each for this process. They start with the first task that needs them. */
const thread = new ComputeThread();
const documents = new DocumentProcess();

/**
 * Does a task. Rejects with the task's own {@link ToolFailure}, with a {@link ToolFailure} of code `TOO_COMPLEX` when
 * the task takes too much time or memory, and with the signal's reason.
 */
export async function compute<Input, Output>(
  task: Task<Input, Output>,
  input: Input,
  signal: AbortSignal,
): Promise<Output> {
  signal.throwIfAborted();
  if (task.isLight(input)) return await task.run(input);
  return await (task.isDocument(input) ? documents : thread).run(task, input, signal);
}
