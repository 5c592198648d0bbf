/** The list of todos of a request in several steps: pure over what was over before the last turn and is now. */
import type { TodoStatus } from '../../../shared/documents.ts';
import { EDGE_TOOL_LIMITS } from '../../../shared/limits.ts';
import type { Call } from './calls.ts';
import { titleOf } from './naming.ts';
import type { Progress } from './progress.ts';
import type { Step } from './steps.ts';

/** `start` is the progress before the first turn: steps that all go out together need no list. */
export function needsTodos(
  steps: readonly Step[],
  start: Progress,
  tools: ReadonlySet<string>,
): boolean {
  const { length } = steps.filter(isTodo);
  const fits = length >= MIN_TODOS && length <= EDGE_TOOL_LIMITS.maxTodos;
  return fits && start.calls.length > 0 && start.calls.length < length && tools.has('todo_write');
}

/** As the tool's description has it. */
const MIN_TODOS = 3;

/** What changed on the list since `before`; all of it when there was no turn before. */
export function todoCalls(steps: readonly Step[], now: Progress, before: Progress | null): Call[] {
  const todos = steps.flatMap((step, index) => {
    if (!isTodo(step)) return [];
    const id = todoIdOf(index);
    const status = statusOf(index, now);
    if (!before) return [{ id, content: titleOf(step), status }];
    return status === statusOf(index, before) ? [] : [{ id, status }];
  });
  if (todos.length === 0) return [];
  return [{ name: 'todo_write', arguments: { merge: before !== null, todos } }];
}

/** Short and stable: by the step's place in the request. */
export function todoIdOf(index: number): string {
  return `step-${index + 1}`;
}

/** What was not understood is said, and not taken on. */
function isTodo({ type }: Step): boolean {
  return type !== 'unknown';
}

function statusOf(index: number, { ended, calls }: Progress): TodoStatus {
  const end = ended[index];
  if (end) return end.succeeded ? 'completed' : 'cancelled';
  if (calls.length === 0) return 'cancelled';
  return index === ended.length ? 'in_progress' : 'pending';
}
