import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { newDeferred } from '../../../../machine/deferred.ts';
import { CompanionServer } from '../../companion/index.ts';
import { connect, newPlace } from './companions.ts';
import { activate, type Editor } from './editor-plugin.ts';

/** An editor with one file open, whose person changes each proposal before answering. */
function newEditor() {
  const choices = [
    newDeferred<'yes' | 'no'>(),
    newDeferred<'yes' | 'no'>(),
    newDeferred<'yes' | 'no'>(),
  ];
  const shown: string[] = [];
  const closed: string[] = [];
  let change = () => {};
  let column = 0;
  const editor: Editor = {
    name: 'Ed',
    folders: () => ['/work'],
    tabs: () => [
      {
        path: '/work/a.ts',
        focusedAt: new Date(5),
        hasFocus: true,
        selection: '',
        caret: { line: 0, column },
      },
    ],
    problems: (path) => [
      { at: { line: 2, column: 0 }, isError: true, text: `bad in ${path}`, linter: 'lint' },
    ],
    showDiff: (path, proposal) => {
      const { promise: choice } = choices[shown.length] ?? newDeferred();
      shown.push(path);
      return { text: () => `${proposal}, changed`, choice, close: () => void closed.push(path) };
    },
    setTerminalVariables: () => {},
    onChange: (listener) => {
      change = listener;
    },
  };
  const moveTo = (to: number) => {
    column = to;
    change();
  };
  return { editor, choices, shown, closed, moveTo };
}

/** The plugin with its companion, whose discovery files lie in a folder of the test. */
async function startPlugin(editor: Editor) {
  const start = CompanionServer.start.bind(CompanionServer);
  let started: CompanionServer | undefined;
  vi.spyOn(CompanionServer, 'start').mockImplementation(async (options) => {
    started = await start({ ...options, discovery: newPlace() });
    return started;
  });
  const end = await activate(editor);
  onTestFinished(end);
  if (started === undefined) throw new Error('The plugin has started no companion.');
  return started;
}

it('the page’s plugin shows diffs, and reports the context and the problems', async () => {
  const { editor, choices, shown, closed, moveTo } = newEditor();
  const { call, heard } = await connect(await startPlugin(editor));
  const cursor = (character: number) => ({
    method: 'ide/contextUpdate',
    params: {
      workspaceState: {
        openFiles: [
          { path: '/work/a.ts', timestamp: 5, isActive: true, cursor: { line: 1, character } },
        ],
      },
    },
  });
  await vi.waitFor(() => expect(heard).toEqual([cursor(1)]));
  moveTo(7);
  await vi.waitFor(() => expect(heard.at(-1)).toEqual(cursor(8)));

  const open = () => call('openDiff', { filePath: '/work/a.ts', newContent: 'new' });
  await open();
  choices[0]?.resolve('yes');
  const params = { filePath: '/work/a.ts', content: 'new, changed' };
  const accepted = { method: 'ide/diffAccepted', params };
  await vi.waitFor(() => expect(heard.at(-1)).toEqual(accepted));
  await open();
  choices[1]?.resolve('no');
  await vi.waitFor(() => expect(heard.at(-1)).toMatchObject({ method: 'ide/diffRejected' }));
  await open();
  expect(await call('closeDiff', { filePath: '/work/a.ts' })).toEqual({
    content: [{ type: 'text', text: '{"content":"new, changed"}' }],
  });
  expect([shown.length, closed.length]).toEqual([3, 3]);

  const place = { line: 2, character: 0 };
  const problem = { severity: 'Error', message: 'bad in /work/a.ts', source: 'lint' };
  const diagnostics = [{ range: { start: place, end: place }, ...problem }];
  expect(await call('getDiagnostics', { uri: 'file:///work/a.ts' })).toEqual({
    content: [{ type: 'text', text: JSON.stringify([{ uri: 'file:///work/a.ts', diagnostics }]) }],
  });
  for (const uri of ['', '/work/a.ts', 'untitled:1'])
    expect(await call('getDiagnostics', { uri })).toMatchObject({ isError: true });
});

it('docs/companion.md shows this very plugin', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/companion.md'), 'utf8');
  const [, code = ''] = /```ts\n(.*?)```/s.exec(page) ?? [];
  const file = readFileSync(join(import.meta.dirname, 'editor-plugin.ts'), 'utf8');
  const [, ...lines] = file
    .replace('../../companion/', './drawbridge/packages/editors/companion/')
    .split('\n');
  expect(code).toBe(lines.join('\n'));
});
