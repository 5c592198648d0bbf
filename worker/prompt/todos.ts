/** The list of todos as the model reads it: from the tool that writes it, and in place of what was said. Pure. */
import type { Todo } from '../../shared/documents.ts';

/** One line for each. */
export function formatTodos(todos: readonly Todo[]): string {
  if (todos.length === 0) return 'The list of todos is empty.';
  return todos.map(({ id, content, status }) => `- [${status}] ${id}: ${content}`).join('\n');
}
