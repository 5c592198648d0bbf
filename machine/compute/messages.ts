/** The messages to a thread or a process and back. Both ends are this program, so no message comes from outside. */
import { ToolFailure } from '../failure.ts';

export interface TaskQuestion {
  /** The task's. */
  readonly name: string;
  readonly input: unknown;
}

export type TaskAnswer =
  | { readonly state: 'done'; readonly output: unknown }
  /** The task could not be done. `message` is for the model. */
  | { readonly state: 'failed'; readonly code: string; readonly message: string }
  /** Any other thrown error; for the log. */
  | { readonly state: 'broken'; readonly error: unknown };

/** The answer for a thrown error. Needed because an error loses its class on the way. */
export function failureOf(thrown: unknown): TaskAnswer {
  if (!(thrown instanceof ToolFailure)) return { state: 'broken', error: thrown };
  return { state: 'failed', code: thrown.code, message: thrown.message };
}

/** The output. Throws the thread's error again. */
export function outputOf(answer: TaskAnswer): unknown {
  switch (answer.state) {
    case 'done':
      return answer.output;
    case 'failed':
      throw new ToolFailure(answer.code, answer.message);
    case 'broken':
      throw new Error('a computation failed', { cause: answer.error });
  }
}
