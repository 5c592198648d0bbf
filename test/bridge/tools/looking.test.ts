import { execFileSync } from 'node:child_process';
import { mkdir, symlink, utimes } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { SEARCH_LIMITS } from '../../../packages/code-index/search/limits.ts';
import { LongRecord, splitRecords } from '../../../packages/code-index/search/records.ts';
import { runRipgrep } from '../../../packages/code-index/search/ripgrep.ts';
import { Workspace } from '../../../packages/workspace/workspace.ts';
import { TOOL_LIMITS } from '../../../shared/limits.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { temporaryWorkspace } from './temporary-workspace.ts';

keepFoldersInMemory();

const FIVE = 'one\ntwo\nthree\nfour\nfive\n';

describe('read_file', () => {
  it.each([
    ['the whole file', {}, '1|one\n2|two\n3|three\n4|four\n5|five'],
    ['from an offset', { offset: 4 }, '4|four\n5|five\n(Lines 4 to 5 of 5.)'],
    ['from the end', { offset: -2 }, '4|four\n5|five\n(Lines 4 to 5 of 5.)'],
    [
      'from before it',
      { offset: -9, limit: 1 },
      '1|one\n(Lines 1 to 1 of 5. Read on with offset 2.)',
    ],
    ['a window', { offset: 3, limit: 1 }, '3|three\n(Lines 3 to 3 of 5. Read on with offset 4.)'],
  ])('reads %s', async (_, window, data) => {
    const { call } = await temporaryWorkspace({ 'a.txt': FIVE });
    expect(await call('read_file', { target_file: 'a.txt', ...window })).toMatchObject({ data });
  });

  it('reads CRLF, a byte order mark and a missing final newline as plain lines', async () => {
    const { call } = await temporaryWorkspace({ 'a.txt': '\uFEFFa\r\n\r\nb' });
    const data = '1|a\n2|\n3|b';
    expect(await call('read_file', { target_file: 'a.txt' })).toMatchObject({ data });
  });

  it('reads a window of a file of nothing but lines without taking all of it apart', async () => {
    const { codeOf, call } = await temporaryWorkspace({
      'a.txt': '\n'.repeat(TOOL_LIMITS.maxFileBytes),
    });
    const before = process.memoryUsage().rss;
    const { data } = await call('read_file', { target_file: 'a.txt', offset: -2, limit: 1 });
    expect(data).toContain(`${TOOL_LIMITS.maxFileBytes - 1}|\n`);
    expect(process.memoryUsage().rss - before).toBeLessThan(500_000_000);
    expect(
      await codeOf('str_replace', { file_path: 'a.txt', old_string: 'b', new_string: 'c' }),
    ).toBe('FILE_TOO_LARGE');
  });

  it('says that a file is empty', async () => {
    const { call } = await temporaryWorkspace({ 'a.txt': '' });
    const data = '(The file is empty.)';
    expect(await call('read_file', { target_file: 'a.txt' })).toMatchObject({ data });
  });

  it('names the bound it stopped at', async () => {
    const { call } = await temporaryWorkspace({
      'a.txt': 'x\n'.repeat(5_000),
      'wide.txt': `${'y'.repeat(1_000)}\n`.repeat(200),
    });
    const long = await call('read_file', { target_file: 'a.txt' });
    expect(long.data).toMatch(/\n2000\|x\n\(Lines 1 to 2000 of 5000. Read on with offset 2001.\)$/);
    const wide = await call('read_file', { target_file: 'wide.txt' });
    expect(wide.data.length).toBeLessThan(TOOL_LIMITS.maxResultChars + 200);
    expect(wide.data).toMatch(/Read on with offset \d+/);
  });

  it('cuts a long line, never through a character', async () => {
    const { call } = await temporaryWorkspace({
      'a.txt': `x${'🦊'.repeat(TOOL_LIMITS.maxLineChars)}\n`,
    });
    const { data } = await call('read_file', { target_file: 'a.txt' });
    expect(data.isWellFormed()).toBe(true);
    expect(data).toMatch(/🦊… \(\d+ more characters\)$/);
  });

  it('shows other encodings and says so', async () => {
    const { call } = await temporaryWorkspace({ 'a.txt': Buffer.from('caf\xe9\n', 'latin1') });
    expect(await call('read_file', { target_file: 'a.txt' })).toMatchObject({
      data: '1|café\n(The file is not UTF-8, it is shown as windows-1252.)',
    });
  });

  it.each([
    ['a binary file', { target_file: 'binary' }, 'BINARY_FILE'],
    ['a folder', { target_file: 'folder' }, 'NOT_A_FILE'],
    ['a missing file', { target_file: 'missing/too.txt' }, 'FILE_NOT_FOUND'],
    ['an offset past the end', { target_file: 'folder/a.txt', offset: 9 }, 'OFFSET_PAST_END'],
  ])('refuses %s', async (_, args, code) => {
    const { codeOf } = await temporaryWorkspace({
      binary: Buffer.from([1, 0, 2]),
      'folder/a.txt': FIVE,
    });
    expect(await codeOf('read_file', args)).toBe(code);
  });
});

const TREE = {
  '.gitignore': 'ignored.txt\nbuild/\n*.log\n!keep.log\n',
  'README.md': 'needle\n',
  'ignored.txt': 'needle\n',
  'keep.log': 'needle\n',
  'build/out.ts': 'needle\n',
  'src/a.ts': 'first\nneedle one\nthird\nfourth\nfifth\nneedle two\n',
  'src/deep/b.ts': 'NEEDLE\n',
  'src/c.py': 'needle\n',
  '.hidden/d.ts': 'needle\n',
  '.git/config': 'needle\n',
  '.env': 'needle=secret\n',
  'keys/server.pem': 'needle\n',
};

describe('list_dir', () => {
  it('lists a folder without hidden and ignored entries', async () => {
    const { call, path } = await temporaryWorkspace(TREE);
    await mkdir(path('empty'));
    await symlink('README.md', path('link.md'));
    expect(await call('list_dir', {})).toMatchObject({
      data: 'README.md\nkeep.log\nkeys/ (1 file)\nlink.md (link)\nsrc/ (3 files)\n(5 of 12 entries of .; the others are hidden, ignored or empty.)',
    });
  });

  it('leaves out what the caller does not want', async () => {
    const { call } = await temporaryWorkspace(TREE);
    const args = { target_directory: 'src', ignore_globs: ['*.py', 'deep'] };
    const { data } = await call('list_dir', args);
    expect(data).toMatch(/^a\.ts\n\(1 of 3/);
  });

  it.each([
    ['README.md', 'NOT_A_FOLDER'],
    ['missing', 'FILE_NOT_FOUND'],
    ['..', 'OUTSIDE_WORKSPACE'],
  ])('refuses %s', async (target_directory, code) => {
    const { codeOf } = await temporaryWorkspace(TREE);
    expect(await codeOf('list_dir', { target_directory })).toBe(code);
  });
});

describe('glob_file_search', () => {
  it('looks where the policy has looked, also by another name of an argument', async () => {
    const { call } = await temporaryWorkspace({ 'a.ts': '', 'src/b.ts': '' });
    const { data } = await call('glob_file_search', { pattern: '*.ts', path: 'src' });
    expect(data).toBe('src/b.ts\n(1 file, newest first.)');
  });

  it.each([
    ['*.ts', {}, ['.hidden/d.ts', 'src/a.ts', 'src/deep/b.ts']],
    ['**/*.ts', {}, ['.hidden/d.ts', 'src/a.ts', 'src/deep/b.ts']],
    ['deep/*.ts', {}, ['src/deep/b.ts']],
    ['/src/*.{ts,py}', {}, ['src/a.ts', 'src/c.py']],
    ['*.ts', { target_directory: 'src/deep' }, ['src/deep/b.ts']],
    ['*.log', {}, ['keep.log']],
    ['ignored.txt', {}, []],
    ['build/**', {}, []],
    ['config', {}, []],
    ['--files', {}, []],
  ])('finds %j %j', async (glob_pattern, where, names) => {
    const { call } = await temporaryWorkspace(TREE);
    const { data } = await call('glob_file_search', { glob_pattern, ...where });
    expect(data.split('\n').slice(0, -1).sort()).toEqual(names);
  });

  it('puts the newest first', async () => {
    const { call, path } = await temporaryWorkspace({ 'old.ts': '', 'new.ts': '', 'mid.ts': '' });
    await utimes(path('old.ts'), 1_000, 1_000);
    await utimes(path('mid.ts'), 2_000, 2_000);
    expect(await call('glob_file_search', { glob_pattern: '*.ts' })).toMatchObject({
      data: 'new.ts\nmid.ts\nold.ts\n(3 files, newest first.)',
    });
  });

  it('says when it shows only a part', async () => {
    const files = Object.fromEntries(
      Array.from({ length: TOOL_LIMITS.maxEntries + 5 }, (_, i) => [`f${i}.ts`, '']),
    );
    const { call } = await temporaryWorkspace(files);
    const { data } = await call('glob_file_search', { glob_pattern: '*.ts' });
    expect(data).toMatch(/\(The newest 1000 of 1005 files:/);
  });

  it('refuses a glob that is none', async () => {
    const { codeOf } = await temporaryWorkspace(TREE);
    expect(await codeOf('glob_file_search', { glob_pattern: 'a[' })).toBe('SEARCH_REFUSED');
  });
});

describe('grep', () => {
  const A = { pattern: 'needle', path: 'src/a.ts' };
  const SRC = { pattern: 'needle', path: 'src' };
  const ONE = { pattern: 'one', path: 'src/a.ts' };
  const FILES = { pattern: 'needle', output_mode: 'files_with_matches' };
  const NONE = '(No matches. Ignored files are not searched.)';
  const OVER_LINES = { pattern: 'one.third', path: 'src', multiline: true };
  const CODE = 'src/a.ts\nsrc/c.py';
  const NOT_ALL = 'not all are shown: narrow the search by path, glob, type or pattern.)';

  it.each([
    ['lines', SRC, 'src/a.ts\n2:needle one\n6:needle two\n\nsrc/c.py\n1:needle\n(3 matches.)'],
    ['one file', A, 'src/a.ts\n2:needle one\n6:needle two\n(2 matches.)'],
    [
      'without case',
      { ...SRC, path: 'src/deep', '-i': true },
      'src/deep/b.ts\n1:NEEDLE\n(1 match.)',
    ],
    [
      'lines after',
      { ...A, '-A': 1 },
      'src/a.ts\n2:needle one\n3-third\n--\n6:needle two\n(2 matches.)',
    ],
    ['lines around', { ...ONE, '-C': 1 }, 'src/a.ts\n1-first\n2:needle one\n3-third\n(1 match.)'],
    ['lines before', { ...ONE, '-B': 1 }, 'src/a.ts\n1-first\n2:needle one\n(1 match.)'],
    ['over lines', OVER_LINES, 'src/a.ts\n2:needle one\n3:third\n(1 match.)'],
    ['a glob', { ...FILES, glob: '*.ts' }, '.hidden/d.ts\nsrc/a.ts\n(2 files.)'],
    ['no ignored file by a glob', { ...FILES, glob: '*.{txt,log}' }, 'keep.log\n(1 file.)'],
    ['a negative glob', { ...FILES, path: 'src', glob: '!*.py' }, 'src/a.ts\n(1 file.)'],
    ['a type', { ...FILES, type: 'py' }, 'src/c.py\n(1 file.)'],
    ['counts', { ...SRC, output_mode: 'count' }, 'src/a.ts:2\nsrc/c.py:1\n(2 files.)'],
    ['no secret or ignored files', FILES, `.hidden/d.ts\nREADME.md\nkeep.log\n${CODE}\n(5 files.)`],
    ['no secret by its name', { pattern: 'secret', glob: '.env' }, NONE],
    ['nothing', { pattern: 'absent' }, NONE],
    ['a pattern like a flag', { ...SRC, pattern: '--pre=cat' }, NONE],
    [
      'at most so many lines',
      { ...SRC, head_limit: 2 },
      `src/a.ts\n2:needle one\n6:needle two\n(At least 2 matches, ${NOT_ALL}`,
    ],
    [
      'at most so many files',
      { ...SRC, head_limit: 1, output_mode: 'count' },
      `src/a.ts:2\n(At least 1 file, ${NOT_ALL}`,
    ],
  ])('shows %s', async (_, args, data) => {
    const { call } = await temporaryWorkspace(TREE);
    expect(await call('grep', args)).toEqual({ status: 'success', data });
  });

  const TEXT = 'import os\nfoo();\nclass A:\n    pass\n\n  b\n\nend\n';

  it.each([
    ...['foo\\(\\);$', '^end$', ':$', '^$', 'o.*$', '\\S$', '^\\s*$', '[^;]$', '(?m)^pass|pass$'],
    ...[
      '\\n',
      'foo\\(\\);\\nclass',
      'foo\\(\\);.class',
      ':\\s+pass',
      ';[^a]c',
      '\\n\\n',
      'pass\\n{2}',
    ],
    ...[
      '(?s)A.*?\\n$',
      ';[\\n]class',
      ';\nclass',
      'A:[\\s\\S]*end',
      '[^\\n]+\\nend',
      '[[:space:]]+b',
      ';\\Wc',
    ],
  ])('finds %j in a file with CR LF as in the same with LF', async (pattern) => {
    const { call } = await temporaryWorkspace({
      'a/f': TEXT,
      'b/f': TEXT.replaceAll('\n', '\r\n'),
    });
    for (const output_mode of ['content', 'count', 'files_with_matches'])
      for (const multiline of [false, true]) {
        const found = async (path: string) => {
          const { data } = await call('grep', { pattern, path, output_mode, multiline });
          return data.replaceAll(`${path}/f`, 'f');
        };
        expect(await found('b'), `${output_mode} ${multiline}`).toBe(await found('a'));
      }
  });

  it.each([
    ['a pattern that is none', { pattern: 'a(' }, 'SEARCH_REFUSED'],
    ['a type that is none', { pattern: 'a', type: 'klingon' }, 'SEARCH_REFUSED'],
    ['a missing path', { pattern: 'a', path: 'missing' }, 'FILE_NOT_FOUND'],
    ['a path outside', { pattern: 'a', path: '/etc' }, 'OUTSIDE_WORKSPACE'],
    ['a pipe', { pattern: 'a', path: 'pipe' }, 'NOT_A_FILE'],
  ])('refuses %s', async (_, args, code) => {
    const { codeOf, path } = await temporaryWorkspace(TREE);
    execFileSync('mkfifo', [path('pipe')]);
    expect(await codeOf('grep', args)).toBe(code);
  });

  it('bounds long lines and many of them', async () => {
    const { call } = await temporaryWorkspace({
      'a.txt': `needle${'x'.repeat(100_000)}\n`.repeat(100),
    });
    const { data } = await call('grep', { pattern: 'needle' });
    expect(data.length).toBeLessThan(TOOL_LIMITS.maxResultChars + 3_000);
    expect(data).toContain('more characters)');
    expect(data).toContain('At least');
  });

  it('shows lines that are not UTF-8', async () => {
    const { call } = await temporaryWorkspace({ 'a.txt': Buffer.from('needle \xe9\n', 'latin1') });
    expect(await call('grep', { pattern: 'needle' })).toMatchObject({
      data: 'a.txt\n1:needle \uFFFD\n(1 match.)',
    });
  });

  it('does not follow links, in a folder or to one outside', async () => {
    const { call, path } = await temporaryWorkspace({ 'a.txt': 'needle\n' });
    await symlink('/etc', path('etc'));
    await symlink('/etc/passwd', path('passwd'));
    expect(
      await call('grep', { pattern: 'root|needle', output_mode: 'files_with_matches' }),
    ).toMatchObject({ data: 'a.txt\n(1 file.)' });
  });
});

describe('searching by a link inside the workspace', () => {
  it('names what it finds where it really is', async () => {
    const { call, path } = await temporaryWorkspace({ 'real/a.ts': 'needle\n' });
    await symlink('real', path('link'));
    await symlink('real/a.ts', path('file-link.ts'));
    for (const link of ['link', 'file-link.ts']) {
      expect(
        await call('grep', { pattern: 'needle', path: link, output_mode: 'count' }),
      ).toMatchObject({ data: 'real/a.ts:1\n(1 file.)' });
    }
    const glob = { glob_pattern: '*.ts', target_directory: 'link' };
    expect(await call('glob_file_search', glob)).toMatchObject({
      data: 'real/a.ts\n(1 file, newest first.)',
    });
  });

  it('shows nothing of a closed path', async () => {
    const { call, context, path, root } = await temporaryWorkspace({
      'real/state/key': 'needle\n',
    });
    await symlink('real', path('link'));
    const workspace = await Workspace.open(root, { closedPaths: [path('real/state')] });
    const args = { pattern: 'needle', path: 'link' };
    const found = await call('grep', args, { ...context, workspace });
    expect(found.data).toContain('No matches');
  });
});

describe('grep in a line of megabytes', () => {
  /** A record of this line has more than the limit: each match is listed with its place. */
  const MANY = 'var a=1;'.repeat(180_000);
  const LONG = `${'ä"\\'.repeat(900_000)}NEEDLE${'y'.repeat(5_000)}`;

  /** looking.deep.ts has more. */
  it.each([
    ['content', { pattern: 'var' }, /^min\.js\n2:var a=1;.*…\n4:some var\n\(2 matches\.\)$/],
    [
      'what is around it',
      { pattern: 'needle', '-i': true },
      /^min\.js\n3:….*ä"\\NEEDLEyyy.*…\n\(1 match\.\)$/,
    ],
  ])('shows %s', async (_, args, data) => {
    const { call } = await temporaryWorkspace({ 'min.js': `first\n${MANY}\n${LONG}\nsome var\n` });
    const result = await call('grep', args);
    expect(result.data).toMatch(data);
    expect(result.data.length).toBeLessThan(3 * TOOL_LIMITS.maxLineChars);
  });

  it('cuts around the match in any long line', async () => {
    const line = `${'x'.repeat(9_000)}needle${'y'.repeat(9_000)}`;
    const { call } = await temporaryWorkspace({ 'a.txt': `${line}\n` });
    const { data } = await call('grep', { pattern: 'needle' });
    expect(data).toMatch(
      /^a\.txt\n1:\(8500 characters before\) …x{500}needley+… \(7506 more characters\)\n/,
    );
  });

  it('shows nothing of a secret file', async () => {
    const { call } = await temporaryWorkspace({ '.env': MANY });
    expect((await call('grep', { pattern: 'var' })).data).toContain('No matches');
  });
});

describe('runRipgrep', () => {
  it('ends with the signal', async () => {
    const { root, put } = await temporaryWorkspace();
    await put('big.txt', 'x\n'.repeat(2_000_000));
    const controller = new AbortController();
    const flags = ['--json', '--sort=path', '--regexp=x'];
    const search = { folder: root, flags, target: './', separator: '\n', rules: [[]] } as const;
    const read = async () => {
      for await (const _ of runRipgrep({ ...search, signal: controller.signal })) {
        controller.abort(new Error('enough'));
      }
    };
    await expect(read()).rejects.toThrow('enough');
  });
});

describe('splitRecords', () => {
  it('finds the same records at every split', async () => {
    const bytes = Buffer.from('a\nbü\n\nlast');
    for (let at = 0; at <= bytes.length; at++) {
      const chunks = [bytes.subarray(0, at), bytes.subarray(at)];
      expect(await recordsOf(chunks)).toEqual(['a', 'bü', '', 'last']);
    }
  });

  it('reads each record alone, whatever bytes it ends with', async () => {
    const bytes = Buffer.from([0x61, 0xc3, 0x0a, 0xff, 0x0a, 0xe2, 0x82, 0x0a, 0xa9, 0x0a]);
    for (let at = 0; at <= bytes.length; at++) {
      const chunks = [bytes.subarray(0, at), bytes.subarray(at)];
      expect(await recordsOf(chunks)).toEqual(['a\ufffd', '\ufffd', '\ufffd', '\ufffd']);
    }
  });

  it('keeps the beginning of a record that is too long and goes on', async () => {
    const long = Buffer.alloc(SEARCH_LIMITS.maxSearchRecordBytes, 'x');
    const chunks = [Buffer.from('a\n'), long, Buffer.from('y\nb\n')];
    const head = new LongRecord('x'.repeat(SEARCH_LIMITS.maxRecordHeadBytes));
    expect(await recordsOf(chunks)).toEqual(['a', head, 'b']);
  });
});

async function recordsOf(chunks: readonly Buffer[]): Promise<(string | LongRecord)[]> {
  const records: (string | LongRecord)[] = [];
  for await (const some of splitRecords(streamOf(chunks), '\n')) records.push(...some);
  return records;
}

async function* streamOf(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}
