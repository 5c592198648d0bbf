/** The todos of the conversation as they are now, in sight while the thread scrolls. */
import type { ChatResponse, PlanMetadata, TodoUpdateMetadata } from '../../client/index.ts';
import { useLive } from '../live.ts';
import { THREAD, type Thread } from '../store/thread.ts';
import { words } from '../words/thread.ts';
import { TodoList } from './todos.tsx';

export function Pinned({ thread }: { readonly thread: Thread }) {
  useLive(thread.host.live, THREAD);
  const todos = [...todosIn(thread.view?.responses ?? []).values()];
  const done = todos.filter(({ status }) => status === 'completed' || status === 'cancelled');
  if (todos.length === done.length) return null;
  const current = todos.find(({ status }) => status === 'in_progress');
  return (
    <details class="pinned">
      <summary>
        {words.todos} {done.length}/{todos.length} {current?.content}
      </summary>
      <TodoList todos={todos} />
    </details>
  );
}

type ShownTodo = TodoUpdateMetadata['todos'][number];

/** Those of the newest plan, with what changed since. Without a plan, all that were named. */
function todosIn(responses: readonly ChatResponse[]): ReadonlyMap<string, ShownTodo> {
  const todos = new Map<string, ShownTodo>();
  for (const { type, metadata } of responses.flatMap(({ documents }) => documents)) {
    if (type !== 'plan' && type !== 'todo_update') continue;
    const { todos: news = [] } = metadata as Partial<PlanMetadata | TodoUpdateMetadata>;
    if (type === 'plan') todos.clear();
    for (const todo of news) todos.set(todo.id, { ...todos.get(todo.id), ...todo });
  }
  return todos;
}
