/** What the tools make of ignore files. */

import { beforeEach, describe, expect, it } from 'vitest';
import { OWN_TOOLS, TOOLS } from '../../../shared/tools/catalogue.ts';
import { takesPath } from '../../../shared/tools/definition.ts';
import { fewOf } from '../../depth.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../tools/temporary-workspace.ts';

const TEXT = 'export const hiddenHarbour = 1;\n';
const FILES = {
  'open/a.ts': 'export const openHarbour = 1;\n',
  'data/secret.ts': TEXT,
  'data/deep/other.ts': TEXT,
  'open/b.veiled.ts': TEXT,
};
const RULES = '/data/\r\n*.veiled.ts\r\n';

const CALLS: readonly [string, Record<string, unknown>][] = [
  ['read_file', { target_file: 'data/secret.ts' }],
  ['read_file', { target_file: 'open/b.veiled.ts' }],
  ['list_dir', { target_directory: 'data' }],
  ['list_dir', { target_directory: 'data/deep' }],
  ['grep', { pattern: 'Harbour', path: 'data/secret.ts' }],
  ['codebase_search', { query: 'hidden harbour', target_directories: ['data'] }],
  ['write', { path: 'data/new.ts', contents: 'x' }],
  ['write', { path: 'open/new.veiled.ts', contents: 'x' }],
  ['delete_file', { target_file: 'data/secret.ts' }],
  ['rename_file', { target_file: 'data/secret.ts', new_path: 'open/c.ts' }],
  ['rename_file', { target_file: 'open/a.ts', new_path: 'data/a.ts' }],
  ['str_replace', { file_path: 'data/secret.ts', old_string: '1', new_string: '2' }],
  ['edit_file', { target_file: 'data/secret.ts', code_edit: TEXT }],
  ['edit_notebook', { target_notebook: 'data/secret.ipynb', cell_index: 0, new_string: '2' }],
  ['read_lints', { paths: ['open/a.ts', 'data/secret.ts'] }],
];

const SEARCHES: readonly [string, Record<string, unknown>][] = [
  ['list_dir', { target_directory: '.' }],
  ['list_dir', { target_directory: 'open' }],
  ['glob_file_search', { glob_pattern: '**/*.ts' }],
  ['glob_file_search', { glob_pattern: 'data/**' }],
  ['grep', { pattern: 'Harbour', output_mode: 'content' }],
  ['grep', { pattern: 'Harbour', output_mode: 'files_with_matches', glob: '**/*.ts' }],
  ['grep', { pattern: 'Harbour', output_mode: 'count' }],
  ['codebase_search', { query: 'where is the harbour', target_directories: [] }],
];

const OF_WORKTREES = 'its calls name no path: it is judged as a change of the whole folder';
const OF_UNDO =
  'its calls name no path: test/bridge/checkpoints/undo.test.ts has what is closed to it';

/** The tools that no case calls, and why. */
const NO_CASE: Readonly<Record<string, string>> = {
  open_worktree: OF_WORKTREES,
  close_worktree: OF_WORKTREES,
  remove_worktree: OF_WORKTREES,
  preview_undo: OF_UNDO,
  undo_changes: OF_UNDO,
  save_plan: 'its path is protected, and admission opens it after a question',
  guest_edit:
    'it needs a guest: its path is resolved before its work begins, as that of `write` is',
};

it('each tool that takes a path has a case', () => {
  const called = [...CALLS, ...SEARCHES].map(([tool]) => tool);
  const takers = [...TOOLS, ...OWN_TOOLS].filter(takesPath).map(({ name }) => name);
  expect(new Set([...called, ...Object.keys(NO_CASE)])).toEqual(new Set(takers));
});

let place: TemporaryWorkspace;
beforeEach(async () => {
  place = await temporaryWorkspace(FILES);
});

/** The files are read alike: in `npm test` each tool meets the first of them, and one tool all. */
describe.each(['.cursorignore', '.geminiignore', '.qwenignore'])('a path of %s', (file) => {
  const few = <T>(calls: readonly T[]) =>
    file === '.cursorignore' ? calls : calls.slice(0, fewOf(calls.length, 1));

  it.each(few(CALLS))('is closed to %s %j', async (tool, args) => {
    expect(await place.call(tool, args)).not.toMatchObject({ code: 'SECRET_PATH' });
    place = await temporaryWorkspace(FILES);
    await place.put(file, RULES);
    expect(await place.call(tool, args)).toMatchObject({
      status: 'error',
      code: 'SECRET_PATH',
      data: expect.stringContaining(`is closed by ${file}`),
    });
  });

  it.each(few(SEARCHES))('is left out by %s %j', async (tool, args) => {
    const before = await place.call(tool, args);
    expect(JSON.stringify(before)).toMatch(/secret|veiled|data/);
    await place.put(file, RULES);
    const after = await place.call(tool, args);
    expect(after.status).toBe('success');
    expect(JSON.stringify(after)).not.toMatch(/secret\.ts|veiled|data\/|hiddenHarbour/);
  });

  it.each(few(SEARCHES))(
    'is not named to %s %j by a line of the file itself',
    async (tool, args) => {
      await place.put(file, `# harbour\n${RULES}`);
      const asked =
        tool === 'grep' ? { ...args, pattern: 'veiled|data|harbour', glob: '**' } : args;
      const found = await place.call(tool, asked);
      expect(JSON.stringify(found)).not.toMatch(/veiled\.|\/data\//);
    },
  );

  it('is open again once the rule is gone', async () => {
    await place.put(file, RULES);
    await place.put(file, '/other/\n');
    const read = { target_file: 'data/secret.ts' };
    expect(await place.call('read_file', read)).toMatchObject({ status: 'success' });
  });

  it('is not shown where git’s rules open it', async () => {
    await place.put(file, RULES);
    await place.put('.gitignore', '!/data/\n!*.veiled.ts\n');
    const found = await place.call('grep', { pattern: 'Harbour', output_mode: 'content' });
    expect(JSON.stringify(found)).not.toContain('hidden');
  });

  it('cannot be opened by an edit of the file', async () => {
    await place.put(file, RULES);
    const args = { path: file, contents: '' };
    expect(await place.call('write', args)).toMatchObject({ code: 'PROTECTED_PATH' });
    const read = { target_file: file };
    expect(await place.call('read_file', read)).toMatchObject({ status: 'success' });
  });

  it('is closed as a whole where the file is no regular file', async () => {
    await place.put(`open/${file}/x`, '');
    expect(await place.call('read_file', { target_file: 'open/a.ts' })).toMatchObject({
      code: 'SECRET_PATH',
      data: expect.stringContaining('is a folder'),
    });
  });
});

it('a rule that opens a path opens nothing that git ignores', async () => {
  await place.put('.gitignore', 'data/\n');
  await place.put('.cursorignore', '!data/\n');
  const found = await place.call('grep', { pattern: 'hidden', output_mode: 'content' });
  expect(JSON.stringify(found)).not.toContain('data/');
});

describe('.cursorindexingignore', () => {
  beforeEach(async () => await place.put('.cursorindexingignore', RULES));

  it('holds for codebase_search', async () => {
    for (const target_directories of [[], ['data'], ['data/secret.ts']]) {
      const args = { query: 'where is the harbour', target_directories };
      const { status, ...rest } = await place.call('codebase_search', args);
      expect([status, JSON.stringify(rest)]).not.toEqual([
        status,
        expect.stringContaining('hidden'),
      ]);
    }
  });

  it('holds for no other tool', async () => {
    expect(await place.call('read_file', { target_file: 'data/secret.ts' })).toMatchObject({
      status: 'success',
    });
    const found = await place.call('grep', { pattern: 'Harbour', output_mode: 'content' });
    expect(JSON.stringify(found)).toContain('hiddenHarbour');
  });
});
