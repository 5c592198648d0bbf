import { expect, it } from 'vitest';
import { todoWrite } from '../../../../../shared/tools/todo-write.ts';
import type { Todo } from '../../../../../shared/wire/documents.ts';
import { writeTodos } from '../../../../../worker/conversation/calls/edge-tools/todos.ts';

const LIST: readonly Todo[] = [todo('read', 'Read it', 'completed'), todo('fix', 'Fix it')];

it.each<[string, object, readonly Todo[], object]>([
  [
    'a new list',
    { merge: false, todos: [{ id: 'a', content: 'A' }] },
    LIST,
    { list: [todo('a', 'A')], todos: [{ id: 'a', status: 'pending', content: 'A' }] },
  ],
  [
    'a status, and nothing else',
    { merge: true, todos: [{ id: 'fix', status: 'in_progress' }] },
    LIST,
    {
      list: [LIST[0], todo('fix', 'Fix it', 'in_progress')],
      todos: [{ id: 'fix', status: 'in_progress' }],
    },
  ],
  [
    'a new wording and a new todo behind the known ones, merging unless asked otherwise',
    {
      todos: [
        { id: 'fix', content: 'Fix all' },
        { id: 'test', content: 'Test it' },
      ],
    },
    LIST,
    {
      list: [LIST[0], todo('fix', 'Fix all'), todo('test', 'Test it')],
      todos: [
        { id: 'fix', status: 'pending', content: 'Fix all' },
        { id: 'test', status: 'pending', content: 'Test it' },
      ],
    },
  ],
])('writes %s', (_, args, before, metadata) => {
  const result = writeTodos(todoWrite.arguments.parse(args), before);
  expect(result).toMatchObject({ status: 'success', metadata });
});

it('keeps what a todo of a plan depends on', () => {
  const before = [{ ...todo('b', 'B'), dependencies: ['a'] }];
  const args = todoWrite.arguments.parse({ todos: [{ id: 'b', status: 'completed' }] });
  expect(writeTodos(args, before).metadata?.['list']).toEqual([
    { ...todo('b', 'B', 'completed'), dependencies: ['a'] },
  ]);
});

it('refuses a status for a todo that no one has described, and shows the list', () => {
  const args = todoWrite.arguments.parse({ todos: [{ id: 'gone', status: 'completed' }] });
  expect(writeTodos(args, LIST)).toMatchObject({
    status: 'error',
    code: 'INVALID_ARGUMENTS',
    data: expect.stringContaining('- [pending] fix: Fix it'),
  });
});

it('refuses a list that grows without end', () => {
  const full = Array.from({ length: 100 }, (_, index) => todo(`t${index}`, 'x'));
  const args = todoWrite.arguments.parse({ todos: [{ id: 'more', content: 'x' }] });
  expect(writeTodos(args, full)).toMatchObject({ status: 'error' });
});

function todo(id: string, content: string, status: Todo['status'] = 'pending'): Todo {
  return { id, content, status, dependencies: [] };
}
