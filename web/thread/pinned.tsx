/** The todos of the conversation as they are now, in sight while the thread scrolls. */
import { todosIn } from '../../shared/shown/todos.ts';
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
