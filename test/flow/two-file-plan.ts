/** A plan of two todos, as the model lays it and carries it out. */
import type { ScriptedCall, ScriptedRequest } from '../far-ends/reply-script.ts';

/** Its todo `a` is the second of the list, and the first to be done. */
export const LAY_PLAN: ScriptedCall = {
  name: 'create_plan',
  arguments: {
    name: 'Two files',
    overview: 'Writes two files.',
    plan: 'Write `a.txt`, then `b.txt`.',
    todos: [
      { id: 'b', content: 'Write b.txt', dependencies: ['a'] },
      { id: 'a', content: 'Write a.txt' },
    ],
  },
};

/** Writes the todo's file, and checks the todo off. */
export function carryOut(id: string): ScriptedCall[] {
  return [
    { name: 'write', arguments: { path: `${id}.txt`, contents: `${id}\n` } },
    { name: 'todo_write', arguments: { todos: [{ id, status: 'completed' }] } },
  ];
}

/** The list of todos that the model got last. */
export function todosIn({ messages }: ScriptedRequest): { id: string; status: string }[] {
  for (const { content } of messages.toReversed()) {
    const lines = [...String(content).matchAll(/^- \[(\w+)\] (\w+): /gm)];
    if (lines.length > 0) return lines.map(([, status = '', id = '']) => ({ id, status }));
  }
  return [];
}
