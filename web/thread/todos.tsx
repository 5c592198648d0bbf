/** Todos with their state, and changes to them. */
import { words } from '../words/thread.ts';
import type { DocumentProps } from './document-props.ts';

interface ShownTodo {
  readonly id: string;
  readonly status: string;
  readonly content?: string | undefined;
}

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

export function TodoUpdate({ document }: DocumentProps) {
  const todos = (document.metadata['todos'] ?? []) as readonly ShownTodo[];
  return <TodoList todos={todos} />;
}
