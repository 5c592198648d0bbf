/** Formats the list of todos for the model: as the result of `todo_write`, and beside a summary. Pure. */
import type { Todo } from '../../shared/wire/documents.ts';

/** One line for each todo. */
export function formatTodos(todos: readonly Todo[]): string {
  if (todos.length === 0) return 'The list of todos is empty.';
  return todos.map(({ id, content, status }) => `- [${status}] ${id}: ${content}`).join('\n');
}
