import { describe, expect, it } from 'vitest';
import {
  formatPlanFile,
  type PlanContent,
  parsePlanFile,
  planPath,
} from '../../../shared/wire/plan-file.ts';

const PLAN: PlanContent = {
  title: 'Two "languages"',
  overview: 'main.py greets\nin German: too',
  content: '# Two languages\n\nAdd a table.\n\n---\n\nThen test.',
  todos: [
    { id: 'table', content: 'Add: the [table]', status: 'completed', dependencies: [] },
    { id: 'tests', content: "It's - tested", status: 'pending', dependencies: ['table', 'a,b'] },
    { id: 'a,b', content: '#hash', status: 'in_progress', dependencies: [] },
  ],
};

it.each([
  ['with todos', PLAN],
  ['without todos', { ...PLAN, todos: [] }],
])('a plan is the same when its file is read again: %s', (_, plan) => {
  const { todos } = plan;
  const plain = todos.map((todo) => ({
    ...todo,
    id: todo.id.replace(',', ''),
    dependencies: todo.dependencies.map((id) => id.replace(',', '')),
  }));
  const written = { ...plan, todos: plain };
  expect(parsePlanFile(formatPlanFile(written))).toEqual({ ok: true, plan: written });
});

it('the file of a plan is named after its title', () => {
  expect(planPath('Two  Languages: DE/EN!')).toBe('.cursor/plans/two-languages-de-en.plan.md');
  expect(planPath('計画')).toBe('.cursor/plans/plan.plan.md');
  expect(planPath('x', 'mine')).toBe('.cursor/plans/mine.plan.md');
});

describe('a file of other hands', () => {
  it('reads a head in the YAML that Cursor writes', () => {
    const text = `---\r
name: Auth middleware\r
overview: >-\r
  Checks tokens\r
  everywhere.\r
todos:\r
  - id: make\r
    content: Make it\r
    status: done\r
  - content: 'It''s used'\r
    dependencies:\r
      - make\r
    status: in progress\r
  - Document it\r
isProject: false\r
---\r
\r
# Auth\r
Text.\r
`;
    expect(parsePlanFile(text)).toEqual({
      ok: true,
      plan: {
        title: 'Auth middleware',
        overview: 'Checks tokens everywhere.',
        content: '# Auth\nText.',
        todos: [
          { id: 'make', content: 'Make it', status: 'completed', dependencies: [] },
          { id: 'todo-2', content: "It's used", status: 'in_progress', dependencies: ['make'] },
          { id: 'todo-3', content: 'Document it', status: 'pending', dependencies: [] },
        ],
      },
    });
  });

  it('takes check boxes as todos where there is no head', () => {
    expect(parsePlanFile('# Do it\n\nFirst:\n- [x] look\n* [ ] fix\n')).toMatchObject({
      ok: true,
      plan: {
        title: 'Do it',
        todos: [
          { id: 'todo-1', content: 'look', status: 'completed' },
          { id: 'todo-2', content: 'fix', status: 'pending' },
        ],
      },
    });
  });

  it.each([
    ['is empty', '', 'it is empty'],
    ['is another text', '# Readme\n\nWords.', 'it has no head, and no items with a check box'],
    ['has a head without an end', '---\nname: x\n', 'its head has no end'],
    ['has a todo without content', '---\ntodos:\n  - id: a\n---\nx', 'a todo has no content'],
    [
      'has an unknown dependency',
      '---\ntodos:\n- id: a\n  content: A\n  dependencies: [b]\n---\nx',
      'There is no todo b in the plan (todo 0)',
    ],
    [
      'has a circle',
      '---\ntodos:\n- id: a\n  content: A\n  dependencies: [b]\n- id: b\n  content: B\n  dependencies: [a]\n---\nx',
      'The todo a waits for itself, directly or through other todos (todo 0)',
    ],
    [
      'has an id twice',
      '---\ntodos:\n- id: a\n  content: A\n- id: a\n  content: B\n---\nx',
      'Two todos have the id a (todo 1)',
    ],
    [
      'has too many todos',
      Array.from({ length: 101 }, (_, index) => `- [ ] ${index}`).join('\n'),
      'it has more than 100 todos',
    ],
  ])('refuses a file that %s, with the reason', (_, text, problem) => {
    expect(parsePlanFile(text)).toEqual({ ok: false, problem });
  });
});

it.each([
  ['an item', `- id: a\n  content: ${' '.repeat(500_000)}b\u2028c`],
  ['a line', `- id: a\n  content:\n${' '.repeat(500_000)}b\u2028c`],
])('reads %s that is long on purpose', (_, todos) => {
  const read = parsePlanFile(`---\ntodos:\n${todos}\n---\nText.`);
  expect(read).toMatchObject({ ok: true, plan: { todos: [{ id: 'a', content: 'b\u2028c' }] } });
});

it.each([
  ['blank lines', `${' '.repeat(100)}\n`.repeat(20_000)],
  ['other ends of lines', '\r\u2028'.repeat(1_000_000)],
])('reads a body of %s that is long on purpose', (_, body) => {
  const problem = 'its text is too long';
  expect(parsePlanFile(`# Long\n${body}- [x] a`)).toEqual({ ok: false, problem });
});
