import { chown, link, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { searchPatiently } from '../../../packages/edits/test/patient-diff.ts';
import { FileEditMetadata } from '../../../shared/wire/documents.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { temporaryWorkspace } from './temporary-workspace.ts';

keepFoldersInMemory();

searchPatiently();

const MARK = '// ... existing code ...';

const isRoot = process.getuid?.() === 0;
it.runIf(isRoot)('what a bridge of root’s makes belongs to the owner of its folder', async () => {
  const { call, path, root } = await temporaryWorkspace();
  await chown(root, 1234, 1234);
  await call('write', { file_path: 'new/folder/a.ts', contents: 'a\n' });
  const made = ['new', 'new/folder', 'new/folder/a.ts'].map((name) => stat(path(name)));
  expect((await Promise.all(made)).map(({ uid, gid }) => [uid, gid])).toEqual([
    [1234, 1234],
    [1234, 1234],
    [1234, 1234],
  ]);
});

describe('str_replace', () => {
  it('edits a file and reports the change', async () => {
    const { call, text } = await temporaryWorkspace({ 'src/a.ts': 'one\ntwo\nthree\n' });
    const result = await call('str_replace', {
      file_path: './src/a.ts',
      old_string: 'two',
      new_string: '2',
    });
    expect(result).toEqual({
      status: 'success',
      data: expect.stringMatching(
        /^Edited src\/a\.ts \(3 lines before, 3 now\)\. Replaced at line 2\.\n@@ line 2 @@\n-.*\n\+.*$/,
      ),
      metadata: {
        filePath: 'src/a.ts',
        operation: 'edit',
        language: 'typescript',
        diff: { oldString: 'two', newString: '2', startLine: 2, endLine: 2 },
      },
    });
    expect(FileEditMetadata.parse(result.metadata)).toEqual(result.metadata);
    expect(await text('src/a.ts')).toBe('one\n2\nthree\n');
  });

  it('shows a change in several places as one span and its hunks', async () => {
    const { call } = await temporaryWorkspace({ 'a.md': 'x\ny\nx\n' });
    const result = await call('str_replace', {
      file_path: 'a.md',
      old_string: 'x',
      new_string: 'z',
      replace_all: true,
    });
    expect(result.metadata).toMatchObject({
      diff: { oldString: 'x\ny\nx', newString: 'z\ny\nz', startLine: 1, endLine: 3 },
      hunks: [{ startLine: 1 }, { startLine: 3 }],
    });
  });

  it('keeps the byte order mark, CRLF and the missing final newline', async () => {
    const { call, text } = await temporaryWorkspace({ 'a.txt': '\uFEFFone\r\ntwo' });
    await call('str_replace', {
      file_path: 'a.txt',
      old_string: 'one\ntwo',
      new_string: 'three\nfour',
    });
    expect(await text('a.txt')).toBe('\uFEFFthree\r\nfour');
  });

  it('says how the text in the file differed from what was asked for', async () => {
    const { call } = await temporaryWorkspace({ 'a.ts': '    a();\n    b();\n' });
    const result = await call('str_replace', {
      file_path: 'a.ts',
      old_string: 'a();\nb();',
      new_string: 'c();',
    });
    expect(result.data).toContain('indented differently');
  });

  it.each([
    ['a missing file', 'missing.txt', 'FILE_NOT_FOUND'],
    ['a folder', 'folder', 'NOT_A_FILE'],
    ['a binary file', 'binary', 'BINARY_FILE'],
    ['UTF-16', 'utf16', 'OTHER_ENCODING'],
    ['latin-1', 'latin1', 'OTHER_ENCODING'],
    ['text that is not there', 'folder/a.txt', 'NOT_FOUND_IN_FILE'],
  ])('refuses %s', async (_, file_path, code) => {
    const { codeOf } = await temporaryWorkspace({
      'folder/a.txt': 'a\n',
      binary: Buffer.from('x\0y'),
      utf16: Buffer.from('\uFEFFx', 'utf16le'),
      latin1: Buffer.from('x\xe9', 'latin1'),
    });
    expect(await codeOf('str_replace', { file_path, old_string: 'x', new_string: 'y' })).toBe(code);
  });

  it('refuses text with a hole, or with line numbers', async () => {
    const { codeOf, text } = await temporaryWorkspace({ 'a.ts': 'one\n' });
    const edit = { file_path: 'a.ts', old_string: 'one' };
    expect(await codeOf('str_replace', { ...edit, new_string: `two\n${MARK}` })).toBe(
      'MARKER_LEFT_IN_TEXT',
    );
    expect(await codeOf('str_replace', { ...edit, new_string: '1|two\n2|three\n3|four' })).toBe(
      'LINE_NUMBERS_IN_TEXT',
    );
    expect(await text('a.ts')).toBe('one\n');
  });

  it('refuses a file that changed since it was read, and names where', async () => {
    const { codeOf, call, put } = await temporaryWorkspace({ 'a.txt': 'a\nb\nc\nd\ne\n' });
    await call('read_file', { target_file: 'a.txt' });
    await put('a.txt', 'a\nb\nc\nD\ne\n');
    const edit = { file_path: 'a.txt', old_string: 'a', new_string: 'x' };
    expect(await call('str_replace', edit)).toMatchObject({
      code: 'STALE',
      data: expect.stringContaining('around lines 4-4'),
    });
    await call('read_file', { target_file: 'a.txt' });
    expect(await codeOf('str_replace', edit)).toBe('success');
  });

  it('takes its own edits for read', async () => {
    const { call, text } = await temporaryWorkspace({ 'a.txt': 'a\n' });
    await call('str_replace', { file_path: 'a.txt', old_string: 'a', new_string: 'b' });
    await call('str_replace', { file_path: 'a.txt', old_string: 'b', new_string: 'c' });
    expect(await text('a.txt')).toBe('c\n');
  });

  it('keeps what one conversation read from another', async () => {
    const { codeOf, call, put } = await temporaryWorkspace({ 'a.txt': 'a\n' });
    await call('read_file', { target_file: 'a.txt' });
    await put('a.txt', 'a\nb\n');
    const edit = { file_path: 'a.txt', old_string: 'a', new_string: 'x' };
    expect(await codeOf('str_replace', edit)).toBe('STALE');
    expect(await codeOf('str_replace', edit, { conversationId: 'conv_other' })).toBe('success');
  });

  describe('with several edits', () => {
    const pieces = [
      { old_string: 'one', new_string: 'two' },
      { old_string: 'two', new_string: '2', replace_all: true },
      { old_string: 'three\n', new_string: '' },
    ];

    it('makes them in order, as one change', async () => {
      const { call, text } = await temporaryWorkspace({ 'a.txt': 'one\nx\ntwo\nthree\n' });
      const result = await call('str_replace', { file_path: 'a.txt', edits: pieces });
      expect(result.data).toMatch(
        /^Edited a\.txt \(4 lines before, 3 now\)\. Edit 1: replaced at line 1\. Edit 2: replaced at lines 1 and 3\. Edit 3: replaced at line 4\.\n@@ line 1/,
      );
      expect(result.metadata).toMatchObject({ hunks: [{ startLine: 1 }, { startLine: 3 }] });
      expect(await text('a.txt')).toBe('2\nx\n2\n');
    });

    it.each([
      ['text that is not there', { old_string: 'zzz', new_string: 'y' }, 'NOT_FOUND_IN_FILE'],
      ['text that an edit before took away', pieces[0], 'NOT_FOUND_IN_FILE'],
      ['several places', { old_string: 'e', new_string: '0' }, 'AMBIGUOUS'],
      ['a hole', { old_string: 'three', new_string: MARK }, 'MARKER_LEFT_IN_TEXT'],
    ])('makes none of them for %s, and names the edit', async (_, bad, code) => {
      const { call, text } = await temporaryWorkspace({ 'a.txt': 'one\nthree\no\n' });
      const first = { old_string: 'one', new_string: '1' };
      expect(await call('str_replace', { file_path: 'a.txt', edits: [first, bad] })).toMatchObject({
        code,
        data: expect.stringMatching(/^Edit 2 of 2 \(none was made\): /),
      });
      expect(await text('a.txt')).toBe('one\nthree\no\n');
    });

    it.each([
      ['both forms', { ...pieces[0], edits: pieces }],
      ['no form', {}],
      ['half a form', { old_string: 'one' }],
      ['an empty list', { edits: [] }],
      ['too many', { edits: Array.from({ length: 101 }, () => pieces[0]) }],
      ['a piece without its new text', { edits: [{ old_string: 'one' }] }],
    ])('refuses %s', async (_, args) => {
      const { codeOf } = await temporaryWorkspace({ 'a.txt': 'one\n' });
      expect(await codeOf('str_replace', { file_path: 'a.txt', ...args })).toBe(
        'INVALID_ARGUMENTS',
      );
    });
  });
});

describe('write', () => {
  it('creates a file', async () => {
    const { call, text } = await temporaryWorkspace();
    expect(await call('write', { path: 'src/new.py', contents: 'x = 1\n' })).toEqual({
      status: 'success',
      data: 'Created src/new.py (1 line).',
      metadata: { filePath: 'src/new.py', operation: 'create', language: 'python', diff: null },
    });
    expect(await text('src/new.py')).toBe('x = 1\n');
  });

  it('replaces an existing file only when it was read', async () => {
    const { codeOf, call, text } = await temporaryWorkspace({ 'a.txt': 'old\n' });
    const change = { path: 'a.txt', contents: 'new\n' };
    expect(await codeOf('write', change)).toBe('READ_FIRST');
    await call('read_file', { target_file: 'a.txt' });
    expect(await call('write', change)).toMatchObject({
      status: 'success',
      metadata: { operation: 'edit' },
    });
    expect(await text('a.txt')).toBe('new\n');
  });

  it('can be run again in a bridge that remembers nothing', async () => {
    const { codeOf, path } = await temporaryWorkspace({ 'a.txt': 'new\n' });
    const { mtimeMs } = await stat(path('a.txt'));
    expect(await codeOf('write', { path: 'a.txt', contents: 'new\n' })).toBe('success');
    expect((await stat(path('a.txt'))).mtimeMs).toBe(mtimeMs);
  });

  it('keeps the byte order mark and CRLF of what it replaces', async () => {
    const { call, text } = await temporaryWorkspace({ 'a.txt': '\uFEFFa\r\nb\r\n' });
    await call('read_file', { target_file: 'a.txt' });
    await call('write', { path: 'a.txt', contents: 'c\nd\n' });
    expect(await text('a.txt')).toBe('\uFEFFc\r\nd\r\n');
  });

  it('refuses the workspace itself, a folder, and text with a hole', async () => {
    const { codeOf } = await temporaryWorkspace({ 'folder/a.txt': 'a' });
    expect(await codeOf('write', { path: '.', contents: 'x' })).toBe('NOT_A_FILE');
    expect(await codeOf('write', { path: 'folder', contents: 'x' })).toBe('NOT_A_FILE');
    expect(await codeOf('write', { path: 'n.ts', contents: `a\n${MARK}\n` })).toBe(
      'MARKER_LEFT_IN_TEXT',
    );
  });
});

describe('edit_file', () => {
  const FILE = Array.from({ length: 60 }, (_, i) => `const value${i} = ${i};\n`).join('');

  it('merges an edit with markers into a file that was never read', async () => {
    const { call, text } = await temporaryWorkspace({ 'a.ts': FILE });
    const code_edit = `${MARK}\nconst value20 = 20;\nconst value21 = 'changed';\nconst value22 = 22;\n${MARK}\n`;
    expect(await call('edit_file', { target_file: 'a.ts', code_edit })).toMatchObject({
      status: 'success',
      metadata: { diff: { oldString: 'const value21 = 21;', startLine: 22, endLine: 22 } },
    });
    expect(await text('a.ts')).toBe(FILE.replace('= 21;', "= 'changed';"));
  });

  it('creates a missing file, but none with a hole', async () => {
    const { codeOf, call, text } = await temporaryWorkspace();
    expect(await codeOf('edit_file', { target_file: 'n.ts', code_edit: `a\n${MARK}` })).toBe(
      'MARKER_LEFT_IN_TEXT',
    );
    expect(await call('edit_file', { target_file: 'n.ts', code_edit: 'a\n' })).toMatchObject({
      metadata: { operation: 'create' },
    });
    expect(await text('n.ts')).toBe('a\n');
  });

  it('takes an edit without markers for the whole file, if it was read and little is lost', async () => {
    const { codeOf, call, text } = await temporaryWorkspace({ 'a.ts': FILE });
    const whole = { target_file: 'a.ts', code_edit: `${FILE}const more = 1;\n` };
    expect(await codeOf('edit_file', whole)).toBe('READ_FIRST');
    await call('read_file', { target_file: 'a.ts' });
    expect(await codeOf('edit_file', { ...whole, code_edit: 'const value3 = 4;\n' })).toBe(
      'TOO_MUCH_DELETED',
    );
    expect(await codeOf('edit_file', whole)).toBe('success');
    expect(await text('a.ts')).toBe(whole.code_edit);
  });

  it('refuses a file that changed since it was read', async () => {
    const { codeOf, call, put } = await temporaryWorkspace({ 'a.ts': FILE });
    await call('read_file', { target_file: 'a.ts' });
    await put('a.ts', FILE.replace('= 50;', '= 51;'));
    const code_edit = `${MARK}\nconst value20 = 20;\nconst x = 1;\nconst value22 = 22;\n${MARK}\n`;
    expect(await codeOf('edit_file', { target_file: 'a.ts', code_edit })).toBe('STALE');
  });
});

describe('delete_file', () => {
  it('deletes a file, also one name of several', async () => {
    const { codeOf, call, path, text } = await temporaryWorkspace({ 'a.txt': 'a' });
    await link(path('a.txt'), path('b.txt'));
    expect(await call('delete_file', { target_file: 'a.txt' })).toEqual({
      status: 'success',
      data: 'Deleted a.txt.',
      metadata: { filePath: 'a.txt', operation: 'delete', language: 'plaintext', diff: null },
    });
    expect(await text('b.txt')).toBe('a');
    expect(await codeOf('delete_file', { target_file: 'a.txt' })).toBe('FILE_NOT_FOUND');
  });

  it('refuses a folder, and a file that changed since it was read', async () => {
    const { codeOf, call, path } = await temporaryWorkspace({ 'folder/a.txt': 'a' });
    expect(await codeOf('delete_file', { target_file: 'folder' })).toBe('NOT_A_FILE');
    await call('read_file', { target_file: 'folder/a.txt' });
    await writeFile(path('folder/a.txt'), 'b');
    expect(await codeOf('delete_file', { target_file: 'folder/a.txt' })).toBe('STALE');
  });
});

describe('rename_file', () => {
  it('moves a file, and makes the folder', async () => {
    const { codeOf, call, text } = await temporaryWorkspace({ 'src/a.ts': 'a' });
    const result = await call('rename_file', {
      target_file: './src/a.ts',
      new_path: 'lib/new/b.py',
    });
    expect(result).toEqual({
      status: 'success',
      data: 'Renamed src/a.ts to lib/new/b.py.',
      metadata: {
        filePath: 'src/a.ts',
        newPath: 'lib/new/b.py',
        operation: 'rename',
        language: 'python',
        diff: null,
      },
    });
    expect(FileEditMetadata.parse(result.metadata)).toEqual(result.metadata);
    expect(await text('lib/new/b.py')).toBe('a');
    expect(await codeOf('read_file', { target_file: 'src/a.ts' })).toBe('FILE_NOT_FOUND');
  });

  it.each(['b.txt', 'folder', 'link', 'dangling', 'A.TXT'])('never overwrites %s', async (to) => {
    const { codeOf, path, text } = await temporaryWorkspace({
      'a.txt': 'a',
      'b.txt': 'b',
      'A.TXT': 'A',
      'folder/c.txt': 'c',
    });
    await symlink('b.txt', path('link'));
    await symlink('nowhere', path('dangling'));
    expect(await codeOf('rename_file', { target_file: 'a.txt', new_path: to })).toBe('FILE_EXISTS');
    expect([await text('a.txt'), await text('b.txt'), await text('A.TXT')]).toEqual([
      'a',
      'b',
      'A',
    ]);
  });

  it('changes the case of a name', async () => {
    const { codeOf, path } = await temporaryWorkspace({ 'readme.md': 'a' });
    const args = { target_file: 'readme.md', new_path: 'README.md' };
    expect(await codeOf('rename_file', args)).toBe('success');
    expect(await readdir(path('.'))).toEqual(['README.md']);
  });

  it('takes along that the file was read, and refuses one that changed since', async () => {
    const { codeOf, call, put } = await temporaryWorkspace({ 'a.txt': 'a' });
    await call('read_file', { target_file: 'a.txt' });
    await call('rename_file', { target_file: 'a.txt', new_path: 'b.txt' });
    expect(await codeOf('write', { path: 'b.txt', contents: 'b' })).toBe('success');
    await put('b.txt', 'c');
    expect(await codeOf('rename_file', { target_file: 'b.txt', new_path: 'c.txt' })).toBe('STALE');
  });

  it('a file that was never read cannot be replaced by its new name either', async () => {
    const { codeOf, call } = await temporaryWorkspace({ 'a.txt': 'a' });
    await call('rename_file', { target_file: 'a.txt', new_path: 'b.txt' });
    expect(await codeOf('write', { path: 'b.txt', contents: 'b' })).toBe('READ_FIRST');
  });

  it.each([
    ['missing.txt', 'b.txt', 'FILE_NOT_FOUND'],
    ['folder', 'b', 'NOT_A_FILE'],
    ['link', 'b', 'NOT_A_FILE'],
    ['a.txt', './a.txt', 'NO_CHANGE'],
    ['a.txt', '../b.txt', 'OUTSIDE_WORKSPACE'],
    ['a.txt', '.git/hooks/pre-commit', 'PROTECTED_PATH'],
    ['.tool-versions', 'b.txt', 'PROTECTED_PATH'],
    ['.env', 'b.txt', 'SECRET_PATH'],
    ['a.txt', '.env', 'SECRET_PATH'],
  ])('does not rename %s to %s', async (from, to, code) => {
    const { codeOf, path, text } = await temporaryWorkspace({
      'a.txt': 'a',
      'folder/c.txt': 'c',
      '.tool-versions': '',
      '.env': 'x',
    });
    await symlink('a.txt', path('link'));
    expect(await codeOf('rename_file', { target_file: from, new_path: to })).toBe(code);
    expect(await text('a.txt')).toBe('a');
  });
});

describe('the catalogue', () => {
  it('refuses arguments that the schema does not take', async () => {
    const { call } = await temporaryWorkspace();
    expect(await call('write', { path: 3 })).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      data: expect.stringContaining('path:'),
    });
  });

  it('throws the reason of an aborted call', async () => {
    const { call } = await temporaryWorkspace({ 'a.txt': 'a' });
    const signal = AbortSignal.abort(new Error('cancelled by the person'));
    for (const [tool, args] of [
      ['read_file', { target_file: 'a.txt' }],
      ['grep', { pattern: 'a' }],
      ['write', { path: 'b.txt', contents: '' }],
    ] as const) {
      await expect(call(tool, args, { signal })).rejects.toThrow('cancelled by the person');
    }
  });
});
