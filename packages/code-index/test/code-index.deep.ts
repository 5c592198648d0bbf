import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { carryOut } from '../../../test/bridge/tools/temporary-workspace.ts';
import { codebaseSearching } from '../tool.ts';
import { ASKED, indexed } from './indexed.ts';

const FILES = {
  'src/retry.ts':
    'export class Backoff {\n  /** Milliseconds until the next attempt. */\n  nextWait(): number {\n    return 1;\n  }\n}\n',
  'src/parse.py': 'def parse_header(line):\n    return line.split(":")\n',
  'docs/notes.md': '# Backoff\n\nEach attempt waits longer.\n',
};

describe('the index of a workspace', () => {
  it('is made in the background, with its progress, in a file for its owner only', async () => {
    const { index, reports, database } = await indexed(FILES);
    expect(reports.at(-1)).toEqual({ state: 'ready', files: 3, leftOut: 0 });
    expect(index.report).toEqual(reports.at(-1));
    expect(statSync(database).mode & 0o777).toBe(0o600);
  });

  it('finds by the words of the question, by others for the same, and in the named places', async () => {
    const { find } = await indexed(FILES);
    expect(await find('How long does it wait before a retry?')).toEqual([
      'src/retry.ts',
      'docs/notes.md',
    ]);
    expect((await find('tokenize the head of a message'))[0]).toBe('src/parse.py');
    expect(await find('Backoff', ['docs'])).toEqual(['docs/notes.md']);
  });

  it('has chunks that begin and end with functions and classes', async () => {
    const body = '  const value = compute(first, second, third);\n'.repeat(25);
    const one = `/** Adds. */\nexport function addition() {\n${body}}\n`;
    const two = `export function subtraction() {\n${body}}\n`;
    const { chunks } = await indexed({ 'math.ts': `${one}\n${two}` });
    const lines = one.split('\n').length;
    expect(await chunks('subtraction')).toEqual([['math.ts', lines, lines * 2 - 2]]);
  });

  it('sees each change before it answers', async () => {
    const { find, put, path } = await indexed(FILES);
    await put('src/new.ts', 'export const unicorn = 1;\n');
    await put('src/parse.py', 'def feed_unicorn():\n    pass\n');
    expect(await find('unicorn')).toEqual(['src/new.ts', 'src/parse.py']);
    rmSync(path('src/new.ts'));
    expect(await find('unicorn')).toEqual(['src/parse.py']);
    await put('.gitignore', 'src/\n');
    expect(await find('unicorn')).toEqual([]);
  });

  it('has no secrets, no ignored files, and nothing that is no regular file', async () => {
    const { find, path } = await indexed(
      {
        ...FILES,
        '.env': 'UNICORN=1\n',
        '.cursorignore': 'closed/\n',
        'closed/a.ts': 'unicorn\n',
        '.cursorindexingignore': 'unindexed.ts\n',
        'unindexed.ts': 'unicorn\n',
        '.gitignore': 'built.js\n',
        'built.js': 'unicorn\n',
        'binary.ts': 'unicorn\0unicorn',
        'shown.ts': 'unicorn\n',
        '../outside.ts': 'unicorn\n',
      },
      ({ path }) => {
        execFileSync('mkfifo', [path('pipe.ts')]);
        symlinkSync('../outside.ts', path('link.ts'));
        writeFileSync(path('huge.ts'), 'unicorn\n');
        truncateSync(path('huge.ts'), 3 * 1024 ** 3);
      },
    );
    expect(await find('unicorn')).toEqual(['shown.ts']);
    chmodSync(path('shown.ts'), 0o000);
    expect(await find('unicorn')).toEqual(process.getuid?.() === 0 ? ['shown.ts'] : []);
  });

  it('follows an ignore file that appears', async () => {
    const { find, put } = await indexed({ ...FILES, 'a.ts': 'unicorn\n' });
    expect(await find('unicorn')).toEqual(['a.ts']);
    await put('.cursorignore', 'a.ts\n');
    await sleep(300);
    expect(await find('unicorn')).toEqual([]);
  });

  it('shows a call only what it may see', async () => {
    const { index, context } = await indexed(FILES);
    const view = context.workspace.showing((name) => !name.startsWith('src/'));
    const found = await index.find({
      workspace: view,
      question: 'backoff',
      places: ['.'],
      limit: 40,
      ...ASKED,
    });
    expect(found?.chunks.map(({ path }) => path)).toEqual(['docs/notes.md']);
  });

  it('is kept for the next start, and thrown away where it is damaged or of another folder', async () => {
    const first = await indexed(FILES);
    await first.index.end();
    const again = await indexed(FILES, undefined, first);
    expect(again.reports.filter(({ state }) => state === 'building')).toEqual([]);
    await again.index.end();
    for (const damage of [
      (file: string) => writeFileSync(file, 'no database at all'),
      (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2)),
      (file: string) => writeFileSync(file, readFileSync(file).fill(7, 4096)),
    ]) {
      damage(first.database);
      const made = await indexed(FILES, undefined, first);
      expect(await made.find('Backoff')).toEqual(['src/retry.ts', 'docs/notes.md']);
      await made.index.end();
    }
    const other = await indexed({ 'other.ts': 'unicorn\n' }, undefined, {
      database: first.database,
    });
    expect(await other.find('Backoff')).toEqual([]);
  });

  it('answers codebase_search, which says how it was found', async () => {
    const { index, context } = await indexed(FILES);
    const tool = codebaseSearching(index);
    const { data } = await carryOut(tool, { query: 'What is waited before a retry?' }, context);
    expect(data).toMatch(/^src\/retry\.ts:1-6\n1\|export class Backoff/);
    expect(data).toMatch(/found by the words of the question/);
  });
});
