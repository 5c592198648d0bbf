/** Todos with their state, and changes to them. */
import { type ShownTodo, todosIn } from '../../shared/shown/todos.ts';
import { words } from '../words/thread.ts';
import type { DocumentProps } from './document-props.ts';

export function TodoList({ todos }: { readonly todos: readonly ShownTodo[] }) {
  return (
    <ul class="todos">
      {todos.map(({ id, status, content }) => (
        <li key={id} class={status}>
          <span class="mark" role="img" aria-label={words.todoStatus[status] ?? status}>
            {MARKS[status] ?? '○'}
          </span>
          {content ?? id}
        </li>
      ))}
    </ul>
  );
}

const MARKS: Readonly<Record<string, string>> = {
  in_progress: '◐',
  completed: '●',
  cancelled: '⊘',
};

/** A change names a todo by its id alone: an earlier document has its words. */
export function TodoUpdate({ document, thread }: DocumentProps) {
  const todos = (document.metadata['todos'] ?? []) as readonly ShownTodo[];
  const known = todosIn(thread.view?.responses ?? []);
  return <TodoList todos={todos.map((todo) => ({ ...known.get(todo.id), ...todo }))} />;
}
