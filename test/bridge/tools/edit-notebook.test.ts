import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { FileEditMetadata } from '../../../shared/wire/documents.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { temporaryWorkspace } from './temporary-workspace.ts';

keepFoldersInMemory();

/** As Jupyter writes it. */
const NOTEBOOK = {
  cells: [
    { cell_type: 'markdown', id: 'intro', metadata: {}, source: ['# Title\n', 'text'] },
    {
      cell_type: 'code',
      execution_count: 3,
      id: 'work',
      metadata: { tags: ['slow'] },
      outputs: [
        { name: 'stdout', output_type: 'stream', text: ['\u001b[31mhello\u001b[0m\n'] },
        {
          data: { 'image/png': 'QUJD'.repeat(2_000), 'text/plain': ['<Figure>'] },
          metadata: {},
          output_type: 'display_data',
        },
        { ename: 'ValueError', evalue: 'bad', output_type: 'error', traceback: ['line 1'] },
      ],
      source: ['import os\n', 'print(1)'],
    },
  ],
  metadata: { language_info: { name: 'python' } },
  nbformat: 4,
  nbformat_minor: 5,
};
const TEXT = `${JSON.stringify(NOTEBOOK, null, 1)}\n`;

const SHOWN = [
  '[notebook: 2 cells, nbformat 4.5, python]',
  '',
  '[cell 0: markdown, id "intro"]',
  '# Title',
  'text',
  '',
  '[cell 1: code, id "work", ran as 3]',
  'import os',
  'print(1)',
  '[output of cell 1: stdout]',
  'hello',
  '[output of cell 1: text; image/png, 8 K characters, not shown]',
  '<Figure>',
  '[output of cell 1: error]',
  'ValueError: bad',
  'line 1',
].map((line, index) => `${index + 1}|${line}`);

/** A workspace with the notebook `a.ipynb`, which was read. */
async function withNotebook(text: string | Uint8Array = TEXT) {
  const workspace = await temporaryWorkspace({ 'a.ipynb': text });
  await workspace.call('read_file', { target_file: 'a.ipynb' });
  const edit = (args: Record<string, unknown>) =>
    workspace.call('edit_notebook', { target_notebook: 'a.ipynb', ...args });
  return { ...workspace, edit, json: async () => JSON.parse(await workspace.text('a.ipynb')) };
}

describe('read_file', () => {
  it('shows a notebook as its cells', async () => {
    const { call } = await withNotebook();
    const { data } = await call('read_file', { target_file: 'a.ipynb' });
    expect(data.split('\n')).toEqual(SHOWN);
  });

  it('shows a part of it by the lines that it shows', async () => {
    const { call } = await withNotebook();
    const part = { target_file: 'a.ipynb', offset: 7, limit: 2 };
    expect((await call('read_file', part)).data).toBe(
      [...SHOWN.slice(6, 8), '(Lines 7 to 8 of 16. Read on with offset 9.)'].join('\n'),
    );
  });

  it('cuts long outputs, and names those of an unknown form', async () => {
    const stream = { output_type: 'stream', name: 'stderr', text: 'word\n'.repeat(1_000) };
    const outputs = [stream, { output_type: 'new' }, ...Array.from({ length: 30 }, () => stream)];
    const cells = [{ ...NOTEBOOK.cells[1], outputs }];
    const { call } = await withNotebook(JSON.stringify({ ...NOTEBOOK, cells }));
    const { data } = await call('read_file', { target_file: 'a.ipynb' });
    expect(data).toContain('[output of cell 0: of an unknown form]');
    expect(data).toContain('more lines, in the file)');
    expect(data).toContain('[22 more outputs of cell 0]');
    expect(data.length).toBeLessThan(20_000);
  });

  it('shows a broken notebook as it is, and says what is wrong', async () => {
    const { call } = await withNotebook('{"cells": [\n');
    const { data } = await call('read_file', { target_file: 'a.ipynb' });
    expect(data).toMatch(/^1\|\{"cells": \[\n\(a\.ipynb cannot be edited as a notebook: .*line 2/);
  });
});

describe('edit_notebook', () => {
  it('replaces a cell, clears its outputs, and reports the change', async () => {
    const { edit, text } = await withNotebook();
    const result = await edit({ cell_id: 'work', new_string: 'import os\nprint("é")' });
    expect(FileEditMetadata.parse(result.metadata)).toMatchObject({
      filePath: 'a.ipynb',
      operation: 'edit',
      language: 'json',
      hunks: [{ startLine: 14 }, { startLine: 21 }, { startLine: 50 }],
    });
    expect(result.data).toMatch(
      /^Edited a\.ipynb \(\d+ lines before, \d+ now\)\. Changed cell 1: code, id "work"\. Its outputs were cleared: .*\n@@ line 2 @@\n-print\(1\)\n\+print\("é"\)$/,
    );
    const [intro, work] = NOTEBOOK.cells;
    const source = ['import os\n', 'print("é")'];
    const cells = [intro, { ...work, execution_count: null, outputs: [], source }];
    expect(await text('a.ipynb')).toBe(`${JSON.stringify({ ...NOTEBOOK, cells }, null, 1)}\n`);
  });

  it('replaces a piece of a cell, unread too, and keeps the outputs if asked', async () => {
    const { call, text } = await temporaryWorkspace({ 'a.ipynb': TEXT });
    const edit = { target_notebook: 'a.ipynb', cell_index: 1, old_string: 'print(1)' };
    const made = { ...edit, new_string: 'print(2)', keep_outputs: true };
    expect(await call('edit_notebook', made)).toMatchObject({ status: 'success' });
    expect(await text('a.ipynb')).toBe(TEXT.replace('print(1)', 'print(2)'));
  });

  it('inserts and deletes cells of each type', async () => {
    const { edit, json } = await withNotebook();
    const made = await edit({ mode: 'insert_after', cell_id: 'intro', new_string: 'y = 2' });
    const id = /Inserted cell 1: code, id "([0-9a-f]{8})"\. The cells behind it/.exec(made.data);
    await edit({ mode: 'insert_before', cell_index: 3, cell_type: 'raw', new_string: 'raw' });
    await edit({ mode: 'delete', cell_id: 'intro' });
    const { cells } = await json();
    expect(cells).toEqual([
      {
        cell_type: 'code',
        execution_count: null,
        id: id?.[1],
        metadata: {},
        outputs: [],
        source: ['y = 2'],
      },
      NOTEBOOK.cells[1],
      { cell_type: 'raw', id: expect.any(String), metadata: {}, source: ['raw'] },
    ]);
  });

  it('gives equal new cells ids of their own', async () => {
    const { edit, json } = await withNotebook();
    const insert = { mode: 'insert_before', cell_index: 0, new_string: 'same' };
    for (let count = 0; count < 3; count++) await edit(insert);
    const { cells } = (await json()) as { cells: { id: string }[] };
    expect(new Set(cells.map(({ id }) => id)).size).toBe(5);
  });

  it('is named where the JSON of a notebook does not have a text as it stands in a cell', async () => {
    const { call } = await withNotebook();
    const args = { file_path: 'a.ipynb', old_string: 'import os\nprint(1)', new_string: 'x' };
    expect(await call('str_replace', args)).toMatchObject({
      code: 'NOT_FOUND_IN_FILE',
      data: expect.stringContaining('Change a cell with edit_notebook'),
    });
  });

  it('fills a notebook without cells', async () => {
    const { edit, json } = await withNotebook(JSON.stringify({ ...NOTEBOOK, cells: [] }, null, 2));
    await edit({ mode: 'insert_before', cell_index: 0, cell_type: 'markdown', new_string: '# A' });
    expect((await json()).cells).toMatchObject([{ cell_type: 'markdown', source: ['# A'] }]);
  });

  it('changes a cell to another type', async () => {
    const { edit, json } = await withNotebook();
    await edit({ cell_index: 1, cell_type: 'markdown', new_string: 'text' });
    await edit({ cell_index: 0, cell_type: 'code', new_string: 'x' });
    const { cells } = await json();
    const [none, both] = [{}, { execution_count: null, outputs: [] }];
    expect(cells).toEqual([
      { cell_type: 'code', id: 'intro', metadata: none, source: ['x'], ...both },
      { cell_type: 'markdown', id: 'work', metadata: { tags: ['slow'] }, source: ['text'] },
    ]);
  });

  it('leaves the file as it is where the cell has this content', async () => {
    const { edit, text } = await withNotebook();
    const result = await edit({ cell_id: 'work', new_string: 'import os\nprint(1)' });
    expect(result).toMatchObject({ status: 'success', metadata: { diff: null } });
    expect(await text('a.ipynb')).toBe(TEXT);
  });

  it.each([
    [
      'of a tool that inserts behind a cell',
      { notebook_path: 'a.ipynb', cell_id: 'intro', edit_mode: 'insert', new_source: 'n' },
      [0, 'n', 1],
    ],
    [
      'of the same at the start',
      { notebook_path: 'a.ipynb', edit_mode: 'insert', cell_type: 'markdown', new_source: 'n' },
      ['n', 0, 1],
    ],
    [
      'with a new cell at an index',
      {
        target_notebook: 'a.ipynb',
        cell_idx: 1,
        is_new_cell: true,
        cell_language: 'python',
        old_string: '',
        new_string: 'n',
      },
      [0, 'n', 1],
    ],
    [
      'with a piece of a cell',
      {
        target_notebook: 'a.ipynb',
        cell_idx: 1,
        is_new_cell: false,
        cell_language: 'python',
        old_string: 'import os\nprint(1)',
        new_string: 'n',
      },
      [0, 'n'],
    ],
  ])('takes arguments %s', async (_, args, wanted) => {
    const { call, json } = await withNotebook();
    expect(await call('edit_notebook', args)).toMatchObject({ status: 'success' });
    const sources = NOTEBOOK.cells.map(({ source }) => source.join(''));
    const { cells } = (await json()) as { cells: { source: string[] }[] };
    expect(cells.map(({ source }) => source.join(''))).toEqual(
      wanted.map((each) => (typeof each === 'number' ? sources[each] : each)),
    );
  });

  it.each([
    ['markdown', 'markdown'],
    ['raw', 'raw'],
    ['python', 'code'],
    [undefined, undefined],
  ])('the language %j of the old form makes an existing cell %s', async (cell_language, type) => {
    const { call, json } = await withNotebook();
    const old = { target_notebook: 'a.ipynb', cell_idx: 1, is_new_cell: false, old_string: '' };
    await call('edit_notebook', { ...old, cell_language, new_string: 'n' });
    const { cells } = (await json()) as { cells: { cell_type: string }[] };
    expect(cells[1]?.cell_type).toBe(type ?? NOTEBOOK.cells[1]?.cell_type);
  });

  const twice = { ...NOTEBOOK, cells: [NOTEBOOK.cells[0], NOTEBOOK.cells[0]] };
  const edit = { cell_index: 0, new_string: 'x' };
  it.each([
    ['no cell', TEXT, { new_string: 'x' }, 'INVALID_ARGUMENTS', 'give cell_id or cell_index'],
    ['no text', TEXT, { cell_index: 0 }, 'INVALID_ARGUMENTS', 'give new_string'],
    [
      'to delete a cell of which a piece is meant',
      TEXT,
      { cell_index: 1, mode: 'delete', old_string: 'print(1)' },
      ...(['INVALID_ARGUMENTS', 'old_string is for mode replace only'] as const),
    ],
    ['a cell that is not there', TEXT, { ...edit, cell_index: 2 }, 'CELL_NOT_FOUND', '0 to 1'],
    ['an unknown id', TEXT, { cell_id: 'q', new_string: 'x' }, 'CELL_NOT_FOUND', 'id "q"'],
    ['an id and the index of another', TEXT, { ...edit, cell_id: 'work' }, 'AMBIGUOUS_CELL', '1'],
    [
      'an id of two cells',
      JSON.stringify(twice),
      { cell_id: 'intro', new_string: 'x' },
      ...(['AMBIGUOUS_CELL', 'Cells 0, 1 have the id "intro"'] as const),
    ],
    [
      'a piece that is not there',
      TEXT,
      { ...edit, old_string: 'zzz', new_string: 'yyy' },
      'NOT_FOUND_IN_FILE',
      '',
    ],
    ['a hole', TEXT, { ...edit, new_string: 'a\n# ... existing code ...' }, 'MARKER_LEFT_IN_TEXT'],
    ['broken JSON', '{"cells": [', edit, 'NOT_A_NOTEBOOK', 'line 1'],
    ['a comment', `// a\n${TEXT}`, edit, 'NOT_A_NOTEBOOK', 'InvalidCommentToken'],
    ['NaN', TEXT.replace(': 3', ': NaN'), edit, 'NOT_A_NOTEBOOK', 'line 14'],
    ['other JSON', '{"a": 1}', edit, 'NOT_A_NOTEBOOK', 'nbformat is missing'],
    ['a list', '[]', edit, 'NOT_A_NOTEBOOK', 'nbformat is missing'],
    ['nothing', '', edit, 'NOT_A_NOTEBOOK', ''],
    ['cells that are none', '{"nbformat": 4, "cells": [1]}', edit, 'NOT_A_NOTEBOOK', 'cells.0'],
    ['another version', '{"nbformat": 3, "worksheets": []}', edit, 'NOTEBOOK_VERSION', 'nbconvert'],
    ['deep JSON', `{"a": ${'['.repeat(1e5)}`, edit, 'NOT_A_NOTEBOOK', 'levels'],
    ['UTF-16', Buffer.from(`\uFEFF${TEXT}`, 'utf16le'), edit, 'OTHER_ENCODING', ''],
    ['50 MB', Buffer.alloc(50 * 2 ** 20, ' '), edit, 'FILE_TOO_LARGE', ''],
  ])('refuses %s', async (_, text, args, code, part = '') => {
    const { edit: make, path } = await withNotebook(text);
    expect(await make(args)).toMatchObject({ code, data: expect.stringContaining(part) });
    expect((await readFile(path('a.ipynb'))).equals(Buffer.from(text))).toBe(true);
  });

  it('refuses a cell that was not read, and a notebook that changed since', async () => {
    const { call, put } = await temporaryWorkspace({ 'a.ipynb': TEXT });
    const replace = { target_notebook: 'a.ipynb', cell_index: 0, new_string: 'x' };
    expect(await call('edit_notebook', replace)).toMatchObject({ code: 'READ_FIRST' });
    await call('read_file', { target_file: 'a.ipynb' });
    await put('a.ipynb', TEXT.replace('Title', 'Other'));
    const stale = { code: 'STALE' };
    expect(await call('edit_notebook', replace)).toMatchObject(stale);
    const isReviewed = { isReviewed: true };
    expect(await call('edit_notebook', replace, isReviewed)).toMatchObject(stale);
  });
});
