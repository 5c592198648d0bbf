/** The todos of a conversation as they are now. */
import type { ChatResponse, PlanMetadata, TodoUpdateMetadata } from '../wire/documents.ts';

/** One of them, as far as the documents say it. */
export type ShownTodo = TodoUpdateMetadata['todos'][number];

/** Those of the newest plan, with what changed since. Without a plan, all that were named. */
export function todosIn(responses: readonly ChatResponse[]): ReadonlyMap<string, ShownTodo> {
  const todos = new Map<string, ShownTodo>();
  for (const { type, metadata } of responses.flatMap(({ documents }) => documents)) {
    if (type !== 'plan' && type !== 'todo_update') continue;
    const { todos: news = [] } = metadata as Partial<PlanMetadata | TodoUpdateMetadata>;
    if (type === 'plan') todos.clear();
    for (const todo of news) todos.set(todo.id, { ...todos.get(todo.id), ...todo });
  }
  return todos;
}
