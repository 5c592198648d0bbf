/** A computation that grows with a call's arguments or with a file. It runs where it holds nobody up. */

/** A computation over plain data, without effects. */
export interface Task<Input, Output> {
  /** Goes to the thread. No two tasks of the program have one name. */
  readonly name: string;
  readonly run: (input: Input) => Output | Promise<Output>;
  /** Whether the task takes a few milliseconds at most with this input, so that it runs at once. */
  readonly isLight: (input: Input) => boolean;
  /** Whether the input is a document: it can unpack to any size, so that it is read in a process of its own. */
  readonly isDocument: (input: Input) => boolean;
}

/**
 * Makes a task. It can be computed once the program of threads and processes serves it (`bridge/compute/worker.ts`):
 * without that, inputs that are not light fail.
 */
export function task<Input, Output>(
  name: string,
  run: Task<Input, Output>['run'],
  isLight: (input: Input) => boolean,
  isDocument: (input: Input) => boolean = () => false,
): Task<Input, Output> {
  return { name, run, isLight, isDocument };
}
