import { execFileSync } from 'node:child_process';
import {
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../../../machine/failure.ts';
import { sha256 } from '../../../machine/hash.ts';
import {
  temporaryFolder,
  temporaryWorkspace,
} from '../../../test/bridge/tools/temporary-workspace.ts';
import { replaceFileAt } from '../changes.ts';
import { closureOf } from '../closed/protected.ts';
import { readContent } from '../files.ts';
import { Workspace, WorkspaceError } from '../workspace.ts';

const signal = new AbortController().signal;

describe('opening a workspace', () => {
  it.each([
    ['the root of the disk', '/', 'TOO_WIDE'],
    ['the home folder', homedir(), 'TOO_WIDE'],
    ['what contains the home folder', dirname(homedir()), 'TOO_WIDE'],
    ['a missing folder', '/nowhere/at/all', 'MISSING'],
  ])('refuses %s', async (_, folder, code) => {
    await expect(Workspace.open(folder)).rejects.toMatchObject({ name: 'WorkspaceError', code });
  });

  it('refuses a file', async () => {
    const { path } = await temporaryWorkspace({ 'a.txt': 'a' });
    await expect(Workspace.open(path('a.txt'))).rejects.toThrow(WorkspaceError);
  });

  it('refuses a link to the home folder', async () => {
    const folder = await temporaryFolder();
    await symlink(homedir(), join(folder, 'link'));
    await expect(Workspace.open(join(folder, 'link'))).rejects.toMatchObject({ code: 'TOO_WIDE' });
  });

  it('takes a folder by a link, and absolute paths by both names', async () => {
    const { root, path } = await temporaryWorkspace({ 'a.txt': 'a' });
    const alias = join(dirname(root), 'alias');
    await symlink(root, alias);
    const workspace = await Workspace.open(alias);
    const place = { access: 'read', name: 'a.txt', path: path('a.txt'), isLink: false, marks: [] };
    expect(await workspace.resolve(join(alias, 'a.txt'), 'read')).toEqual(place);
    expect(await workspace.resolve(path('a.txt'), 'read')).toEqual(place);
    expect(await workspace.resolve('x/../a.txt', 'read')).toEqual(place);
  });
});

describe('resolving a path', () => {
  it.each([
    ['', 'INVALID_PATH'],
    ['  ', 'INVALID_PATH'],
    ['a\0b', 'INVALID_PATH'],
    ['..', 'OUTSIDE_WORKSPACE'],
    ['../repo-beside/x', 'OUTSIDE_WORKSPACE'],
    ['a/../../x', 'OUTSIDE_WORKSPACE'],
    ['/etc/passwd', 'OUTSIDE_WORKSPACE'],
    ['out/file.txt', 'OUTSIDE_WORKSPACE'],
    ['out/new/deep.txt', 'OUTSIDE_WORKSPACE'],
    ['out-file', 'OUTSIDE_WORKSPACE'],
    ['up/x', 'OUTSIDE_WORKSPACE'],
    ['circle', 'NOT_A_FILE'],
    ['a.txt/below', 'NOT_A_FOLDER'],
    ['x'.repeat(300), 'INVALID_PATH'],
  ])('refuses %j', async (path, code) => {
    const { context, root } = await temporaryWorkspace({ 'a.txt': 'a' });
    const outside = join(dirname(root), 'repo-beside');
    await mkdir(outside);
    await writeFile(join(outside, 'file.txt'), 'secret');
    await symlink(outside, join(root, 'out'));
    await symlink(join(outside, 'file.txt'), join(root, 'out-file'));
    await symlink('..', join(root, 'up'));
    await symlink('circle', join(root, 'circle'));
    for (const access of ['read', 'write'] as const) {
      await expect(context.workspace.resolve(path, access)).rejects.toMatchObject({ code });
    }
  });

  it('writes through no dangling link, wherever it leads', async () => {
    const { codeOf, call, root } = await temporaryWorkspace();
    const outside = join(dirname(root), 'new.txt');
    await symlink(outside, join(root, 'dangling'));
    await symlink(join(dirname(root), 'folder'), join(root, 'dangling-folder'));
    expect(await codeOf('write', { path: 'dangling', contents: 'x' })).toBe('NOT_A_FILE');
    expect(await call('write', { path: 'dangling-folder/x', contents: 'x' })).toMatchObject({
      status: 'error',
    });
    await expect(lstat(outside)).rejects.toThrow('ENOENT');
    expect(await readdir(dirname(root))).toEqual(['repo']);
  });

  it('works on what a link inside the workspace leads to', async () => {
    const { call, path, text } = await temporaryWorkspace({ 'real.txt': 'old\n' });
    await symlink('real.txt', path('link.txt'));
    await call('str_replace', { file_path: 'link.txt', old_string: 'old', new_string: 'new' });
    expect(await text('real.txt')).toBe('new\n');
    expect((await lstat(path('link.txt'))).isSymbolicLink()).toBe(true);
  });

  it('shows a name beginning with two dots for what it is', async () => {
    const { call } = await temporaryWorkspace({ '..odd/a.txt': 'a\n' });
    expect(await call('read_file', { target_file: '..odd/a.txt' })).toMatchObject({ data: '1|a' });
  });
});

describe('closed paths', () => {
  it.each([
    ['.git/config', 'protected'],
    ['packages/a/.GIT/hooks/pre-commit', 'protected'],
    ['.Vscode/settings.json', 'protected'],
    ['.g\u200cit/config', 'protected'],
    ['.git./config', 'protected'],
    ['\uFF0Egit/config', 'protected'],
    ['.drawbridge', 'protected'],
    ['.bashrc', 'protected'],
    ['sub/.tool-versions', 'protected'],
    ['sub/.envrc', 'secret'],
    ['.env', 'secret'],
    ['.ENV', 'secret'],
    ['config/.env.production', 'secret'],
    ['.dev.vars', 'secret'],
    ['keys/server.PEM', 'secret'],
    ['id_ed25519', 'secret'],
    ['.ssh/config', 'secret'],
    ['.env.example', null],
    ['.env.production.sample', null],
    ['.github/workflows/ci.yml', null],
    ['.gitignore', null],
    ['src/git/index.ts', null],
    ['environment.ts', null],
    ['id_rsa.pub', null],
    ['..', null],
  ])('knows %j as %s', (path, closure) => {
    expect(closureOf(path)).toBe(closure);
  });

  it('lets a protected file be read, but not changed', async () => {
    const { call, text } = await temporaryWorkspace({ '.vscode/settings.json': '{}\n' });
    const target = '.vscode/settings.json';
    expect(await call('read_file', { target_file: target })).toMatchObject({ data: '1|{}' });
    const changes = [
      call('write', { path: target, contents: 'x' }),
      call('str_replace', { file_path: target, old_string: '{}', new_string: 'x' }),
      call('edit_file', { target_file: target, code_edit: 'x' }),
      call('delete_file', { target_file: target }),
      call('write', { path: '.GIT/hooks/post-checkout', contents: 'x' }),
    ];
    for (const result of await Promise.all(changes))
      expect(result).toMatchObject({ code: 'PROTECTED_PATH' });
    expect(await text(target)).toBe('{}\n');
  });

  it('closes a secret for every tool, also behind a link', async () => {
    const { call, path } = await temporaryWorkspace({ '.env': 'TOKEN=1\n' });
    await symlink('.env', path('notes.txt'));
    for (const target of ['.env', 'notes.txt']) {
      const results = await Promise.all([
        call('read_file', { target_file: target }),
        call('grep', { pattern: 'TOKEN', path: target }),
        call('str_replace', { file_path: target, old_string: 'TOKEN', new_string: 'x' }),
        call('write', { path: target, contents: 'x' }),
        call('delete_file', { target_file: target }),
      ]);
      for (const result of results) {
        expect(result).toMatchObject({ status: 'error', code: 'SECRET_PATH' });
        expect(result.data).not.toContain('TOKEN');
      }
    }
  });

  it('closes further paths that are named when it opens', async () => {
    const { root, path } = await temporaryWorkspace({ 'state/key': 'k', 'state-2/key': 'k' });
    const workspace = await Workspace.open(root, { closedPaths: [path('state')] });
    await expect(workspace.resolve('state/key', 'read')).rejects.toMatchObject({
      code: 'SECRET_PATH',
    });
    expect(workspace.mayShow(path('state/key'))).toBe(false);
    expect(workspace.mayShow(path('state-2/key'))).toBe(true);
  });
});

describe('reading and replacing files', () => {
  it('reads no pipe and waits for none', async () => {
    const { codeOf, path } = await temporaryWorkspace();
    execFileSync('mkfifo', [path('pipe')]);
    expect(await codeOf('read_file', { target_file: 'pipe' })).toBe('NOT_A_FILE');
    expect(await codeOf('write', { path: 'pipe', contents: 'x' })).toBe('NOT_A_FILE');
    expect(await codeOf('delete_file', { target_file: 'pipe' })).toBe('NOT_A_FILE');
  });

  it('refuses to write a file with another name elsewhere', async () => {
    const { codeOf, path, root, text } = await temporaryWorkspace();
    await writeFile(join(dirname(root), 'outside.txt'), 'old\n');
    await link(join(dirname(root), 'outside.txt'), path('hard.txt'));
    const call1 = { file_path: 'hard.txt', old_string: 'old', new_string: 'new' };
    expect(await codeOf('str_replace', call1)).toBe('HARD_LINK');
    expect(await text('../outside.txt')).toBe('old\n');
  });

  it('keeps the mode of a file, and respects one that is read-only', async () => {
    const { codeOf, path } = await temporaryWorkspace({ 'run.sh': 'old\n', 'fixed.txt': 'old\n' });
    await chmod(path('run.sh'), 0o751);
    await chmod(path('fixed.txt'), 0o444);
    const edit = { old_string: 'old', new_string: 'new' };
    expect(await codeOf('str_replace', { file_path: 'run.sh', ...edit })).toBe('success');
    expect((await stat(path('run.sh'))).mode & 0o7777).toBe(0o751);
    expect(await codeOf('str_replace', { file_path: 'fixed.txt', ...edit })).toBe('NOT_PERMITTED');
  });

  it('makes folders as needed and leaves no temporary file behind', async () => {
    const { call, path } = await temporaryWorkspace();
    await call('write', { path: 'a/b/c.txt', contents: 'x' });
    expect(await readdir(path('a/b'))).toEqual(['c.txt']);
    expect((await stat(path('a/b/c.txt'))).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it('writes nothing when the file is not what the edit was made from', async () => {
    const { context, text, path } = await temporaryWorkspace({ 'a.txt': 'theirs' });
    const place = await context.workspace.resolve('a.txt', 'write');
    for (const expected of [sha256(Buffer.from('ours')), null]) {
      const replaced = replaceFileAt(place, Buffer.from('new'), { expected, signal });
      await expect(replaced).rejects.toMatchObject({ code: 'STALE' });
    }
    expect(await text('a.txt')).toBe('theirs');
    expect(await readdir(dirname(path('a.txt')))).toEqual(['a.txt']);
  });

  it('never writes or reads outside while a folder flips to a link', async () => {
    const { context, root } = await temporaryWorkspace({ 'flip/a.txt': 'inside' });
    const outside = join(dirname(root), 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'a.txt'), 'outside');
    const flipper = new Worker(FLIPPER, { eval: true, workerData: { root, outside } });
    const seen = { inside: 0, refused: 0 };
    for (let round = 0; round < 400; round++) {
      try {
        const place = await context.workspace.resolve('flip/a.txt', 'write');
        const { bytes, hash } = await readContent(place, signal);
        expect(Buffer.from(bytes).toString()).toBe('inside');
        await replaceFileAt(place, bytes, { expected: hash, signal });
        seen.inside++;
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error;
        seen.refused++;
      }
    }
    await flipper.terminate();
    expect(await readdir(outside)).toEqual(['a.txt']);
    expect(await readFile(join(outside, 'a.txt'), 'utf8')).toBe('outside');
    expect(seen.inside).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });
});

/** Puts a link to the outside in the place of the folder and takes it away again, for ever. */
const FLIPPER = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
const { root, outside } = require('node:worker_threads').workerData;
for (;;) {
  renameSync(root + '/flip', root + '/away');
  symlinkSync(outside, root + '/flip');
  unlinkSync(root + '/flip');
  renameSync(root + '/away', root + '/flip');
}`;
