/** `todo_write`: computes the conversation's new list of todos. Pure. */
import type * as z from 'zod';
import { formatTodos } from '../../../../packages/prompt/index.ts';
import { EDGE_TOOL_LIMITS } from '../../../../shared/limits.ts';
import type { todoWrite } from '../../../../shared/tools/todo-write.ts';
import type { Todo, TodoUpdateMetadata } from '../../../../shared/wire/documents.ts';
import { failure, type ToolResult } from '../../../../shared/wire/tunnel.ts';

type TodoArguments = z.output<typeof todoWrite.arguments>;
type WrittenTodo = TodoArguments['todos'][number];

/** In the metadata, `todos` has the changed todos and `list` the whole new list. */
export function writeTodos({ merge, todos }: TodoArguments, before: readonly Todo[]): ToolResult {
  const kept = merge ? before : [];
  const known = new Map(kept.map((todo) => [todo.id, todo]));
  const nameless = todos.find(({ id, content }) => content === undefined && !known.has(id));
  if (nameless) {
    return refuse(`There is no todo ${nameless.id} yet: give its content, or use an id of the list.
${formatTodos(before)}`);
  }
  for (const todo of todos) known.set(todo.id, written(todo, known.get(todo.id)));
  const list = [...known.values()];
  if (list.length > EDGE_TOOL_LIMITS.maxTodos) {
    return refuse(`The list may hold ${EDGE_TOOL_LIMITS.maxTodos} todos.`);
  }
  const changed = todos.map(({ id, content }) => ({
    id,
    status: known.get(id)?.status ?? 'pending',
    ...(content !== undefined && { content }),
  }));
  const metadata = { todos: changed, list } satisfies TodoUpdateMetadata & { list: Todo[] };
  return { status: 'success', data: formatTodos(list), metadata };
}

function written({ id, content, status }: WrittenTodo, before: Todo | undefined): Todo {
  return {
    id,
    content: content ?? before?.content ?? '',
    status: status ?? before?.status ?? 'pending',
    dependencies: before?.dependencies ?? [],
  };
}

function refuse(data: string): ToolResult {
  return failure('INVALID_ARGUMENTS', data);
}
