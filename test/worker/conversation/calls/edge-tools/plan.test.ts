import { expect, it } from 'vitest';
import { createPlan } from '../../../../../shared/tools/create-plan.ts';
import { layPlan } from '../../../../../worker/conversation/calls/edge-tools/plan.ts';

it('makes the plan the document’s metadata, and its todos the list', () => {
  const todos = [
    { id: 'make', content: 'Make it', dependencies: [] },
    { id: 'use', content: 'Use it', dependencies: ['make'] },
  ];
  const pending = todos.map((todo) => ({ ...todo, status: 'pending' }));
  expect(lay(todos).metadata).toEqual({
    title: 'Auth',
    overview: 'JWT.',
    todos: pending,
    format: 'markdown',
    version: 1,
    list: pending,
  });
});

it.each<[string, { id: string; dependencies?: string[] }[], string]>([
  ['two todos of one id', [{ id: 'a' }, { id: 'a' }], 'Two todos have the id a'],
  ['one that depends on none of them', [{ id: 'a', dependencies: ['z'] }], 'no todo z in the plan'],
  [
    'todos that wait for each other',
    [
      { id: 'a', dependencies: ['b'] },
      { id: 'b', dependencies: ['a'] },
    ],
    'waits for itself',
  ],
])('refuses %s', (_, todos, message) => {
  const result = lay(todos.map((todo) => ({ content: 'x', ...todo })));
  expect(result).toMatchObject({ status: 'error', data: expect.stringContaining(message) });
});

function lay(todos: object[]) {
  const plan = { name: 'Auth', overview: 'JWT.', plan: '# Auth', todos };
  return layPlan(createPlan.arguments.parse(plan));
}
