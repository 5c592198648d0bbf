import { readdir, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { TOOL_LIMITS } from '../../../../shared/limits.ts';
import {
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../../../../test/bridge/tools/temporary-workspace.ts';

/** A workspace of which a call may only reach `src/` and one file, with links that lead out of these and into them. */
async function limitedWorkspace(): Promise<TemporaryWorkspace> {
  const place = await temporaryWorkspace({
    'src/a.ts': 'needle a\n',
    'src/deep/b.ts': 'needle b\n',
    'srcery/c.ts': 'needle c\n',
    'lib/d.ts': 'needle d\n',
    'notes.md': 'needle n\n',
  });
  await symlink('../lib', place.path('src/out'));
  await symlink('../lib/d.ts', place.path('src/out.ts'));
  await symlink('../lib/new.ts', place.path('src/dangling.ts'));
  await symlink('src', place.path('in'));
  const workspace = place.context.workspace.limitedTo(['src/', 'notes.md']);
  const call: TemporaryWorkspace['call'] = (tool, args) => place.call(tool, args, { workspace });
  return { ...place, context: { ...place.context, workspace }, call };
}

const REFUSED = { status: 'error', code: 'PATH_NOT_ALLOWED' };

describe('a call limited to some paths', () => {
  it.each<[string, Record<string, unknown>]>([
    ['read_file', { target_file: 'src/a.ts' }],
    ['read_file', { target_file: 'lib/../src/a.ts' }],
    ['read_file', { target_file: 'notes.md' }],
    ['read_file', { target_file: 'in/a.ts' }],
    ['list_dir', { target_directory: 'src' }],
    ['glob_file_search', { glob_pattern: '*.ts', target_directory: 'src/deep' }],
    ['grep', { pattern: 'needle', path: 'src/' }],
    ['grep', { pattern: 'needle', path: 'notes.md' }],
    ['str_replace', { file_path: 'src/a.ts', old_string: 'needle', new_string: 'pin' }],
    ['edit_file', { target_file: 'src/new.ts', code_edit: 'new' }],
    ['write', { path: 'src/new/deep/e.ts', contents: 'new' }],
    ['delete_file', { target_file: 'src/a.ts' }],
  ])('%s %j is carried out', async (tool, args) => {
    const { call } = await limitedWorkspace();
    expect(await call(tool, args)).toMatchObject({ status: 'success' });
  });

  it('takes absolute paths for what they are', async () => {
    const { call, path } = await limitedWorkspace();
    expect(await call('read_file', { target_file: path('src/a.ts') })).toMatchObject({
      status: 'success',
    });
    expect(await call('read_file', { target_file: path('lib/d.ts') })).toMatchObject(REFUSED);
  });

  it.each<[string, Record<string, unknown>]>([
    ['read_file', { target_file: 'lib/d.ts' }],
    ['read_file', { target_file: 'srcery/c.ts' }],
    ['read_file', { target_file: 'src/../lib/d.ts' }],
    ['read_file', { target_file: 'src/out/d.ts' }],
    ['read_file', { target_file: 'src/out.ts' }],
    ['read_file', { target_file: 'in/out/d.ts' }],
    ['list_dir', {}],
    ['list_dir', { target_directory: 'src/out' }],
    ['glob_file_search', { glob_pattern: '*.ts' }],
    ['glob_file_search', { glob_pattern: 'src/*.ts' }],
    ['glob_file_search', { glob_pattern: '*.ts', target_directory: 'src/out' }],
    ['grep', { pattern: 'needle' }],
    ['grep', { pattern: 'needle', path: '.', glob: 'src/**' }],
    ['grep', { pattern: 'needle', path: 'src/out' }],
    ['grep', { pattern: 'needle', path: 'src/out.ts' }],
    ['str_replace', { file_path: 'src/out.ts', old_string: 'needle', new_string: 'pin' }],
    ['str_replace', { file_path: 'src/out/d.ts', old_string: 'needle', new_string: 'pin' }],
    ['edit_file', { target_file: 'src/out/e.ts', code_edit: 'new' }],
    ['write', { path: 'lib/e.ts', contents: 'new' }],
    ['write', { path: 'src/out/e.ts', contents: 'new' }],
    ['write', { path: 'src/out/deep/e.ts', contents: 'new' }],
    ['write', { path: 'src/../e.ts', contents: 'new' }],
    ['delete_file', { target_file: 'src/out/d.ts' }],
    ['delete_file', { target_file: 'src/out.ts' }],
  ])('%s %j is refused, and changes nothing', async (tool, args) => {
    const { call, path, text } = await limitedWorkspace();
    expect(await call(tool, args)).toMatchObject(REFUSED);
    expect([await readdir(path('lib')), await text('lib/d.ts')]).toEqual([['d.ts'], 'needle d\n']);
  });

  it('writes no file where a link inside leads to none', async () => {
    const { call, path } = await limitedWorkspace();
    expect(await call('write', { path: 'src/dangling.ts', contents: 'x' })).toMatchObject({
      status: 'error',
    });
    expect(await readdir(path('lib'))).toEqual(['d.ts']);
  });

  it('does not come through links when it searches', async () => {
    const { call } = await limitedWorkspace();
    const results = await Promise.all([
      call('grep', { pattern: 'needle', path: 'src' }),
      call('grep', { pattern: 'needle', path: 'src', output_mode: 'files_with_matches' }),
      call('grep', { pattern: 'needle', path: 'src', output_mode: 'count' }),
      call('grep', { pattern: 'needle', path: 'src', glob: '**/*.ts' }),
      call('glob_file_search', { glob_pattern: '*.ts', target_directory: 'src' }),
      call('glob_file_search', { glob_pattern: 'out/**', target_directory: 'src' }),
    ]);
    const found = results.map(({ data }) => [...new Set(data.match(/[\w./]+\.ts\b/g))].sort());
    const all = ['src/a.ts', 'src/deep/b.ts'];
    expect(found).toEqual([all, all, all, all, all, []]);
  });

  it('a refused call learns what it may reach, and where its path led', async () => {
    const { call } = await limitedWorkspace();
    const messages = [
      await call('grep', { pattern: 'needle' }),
      await call('read_file', { target_file: 'src/out.ts' }),
    ].map(({ data }) => data);
    expect(messages).toEqual([
      '. is not within the paths that the request allows: use one in src/, notes.md.',
      'src/out.ts leads to lib/d.ts, which is not within the paths that the request allows: use one in src/, notes.md.',
    ]);
  });
});

describe('a limited workspace', () => {
  it('names some of many allowed paths', async () => {
    const { context } = await temporaryWorkspace();
    const allowed = Array.from({ length: TOOL_LIMITS.maxNamedPaths + 2 }, (_, n) => `p${n}/`);
    await expect(context.workspace.limitedTo(allowed).resolve('.', 'read')).rejects.toThrow(
      /p0\/, .*, p9\/ or 2 more\.$/,
    );
  });

  it('leaves everything in reach where the workspace itself is allowed', async () => {
    const { context } = await temporaryWorkspace({ 'a.txt': 'a' });
    for (const allowed of ['.', '', './']) {
      const workspace = context.workspace.limitedTo([allowed]);
      expect(await workspace.resolve('a.txt', 'write')).toMatchObject({ name: 'a.txt' });
      expect(await workspace.resolve('.', 'read')).toMatchObject({ name: '.' });
    }
  });

  it('still keeps what is closed or outside, also by an allowed name', async () => {
    const { context } = await temporaryWorkspace({ '.env': 'TOKEN=1' });
    const workspace = context.workspace.limitedTo(['.env', '.git']);
    const refused: [string, string][] = [
      ['.env', 'SECRET_PATH'],
      ['.git/config', 'PROTECTED_PATH'],
      ['../x', 'OUTSIDE_WORKSPACE'],
    ];
    for (const [path, code] of refused) {
      await expect(workspace.resolve(path, 'write')).rejects.toMatchObject({ code });
    }
  });

  it('allows nothing by a link that is an allowed path', async () => {
    const { context, path } = await temporaryWorkspace({ 'v2/a.ts': 'a' });
    await symlink('v2', path('current'));
    const workspace = context.workspace.limitedTo(['current/']);
    await expect(workspace.resolve('current/a.ts', 'read')).rejects.toMatchObject({
      code: 'PATH_NOT_ALLOWED',
    });
  });

  it('shows of a search only what is within', async () => {
    const { context, path } = await temporaryWorkspace();
    const workspace = context.workspace.limitedTo(['src']);
    expect([path('src/a'), path('lib/a')].map((found) => workspace.mayShow(found))).toEqual([
      true,
      false,
    ]);
  });
});
