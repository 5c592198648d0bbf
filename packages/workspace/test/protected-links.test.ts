/** A person's link gives a protected name to a place that has another one. */
import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../../../test/bridge/tools/temporary-workspace.ts';
import { cpuMeter } from '../../../test/cpu-time.ts';

/** Name, links, a file that a program obeys by one of them, and a file beside it that none obeys. */
const LINKED: readonly (readonly [string, Readonly<Record<string, string>>, string, string])[] = [
  ['a folder', { '.github': 'gh' }, 'gh/hooks/h.json', 'gh/workflows/ci.yml'],
  ['a file', { '.tool-versions': 'env/dev' }, 'env/dev', 'env/other'],
  ['a folder that is not there yet', { 'a/.vscode': '../x/y' }, 'x/y/tasks.json', 'x/tasks.json'],
  ['an inner folder', { '.claude/skills': '../x' }, 'x/s/SKILL.md', 'y/s/SKILL.md'],
  ['a hook of git', { '.git/hooks/pre-commit': '../../tools/check' }, 'tools/check', 'tools/a'],
  ['all hooks of git', { '.git/hooks': '../tools' }, 'tools/pre-push', 'tool/pre-push'],
  ['a chain', { '.github': 'one', one: 'two', two: 'gh' }, 'gh/hooks/h.json', 'gh/a.json'],
  [
    'a link behind a link',
    { '.claude': 'c', 'c/skills': '../x/y', 'x/y/z': '../../w' },
    'w/SKILL.md',
    'x/SKILL.md',
  ],
  ['an absolute path', { '.idea': '$ROOT/conf/idea' }, 'conf/idea/w.xml', 'conf/w.xml'],
  ['a way through another link', { b: 'conf', '.idea': 'b/idea' }, 'conf/idea/w.xml', 'conf/w.xml'],
];

async function linked(links: Readonly<Record<string, string>>): Promise<TemporaryWorkspace> {
  const workspace = await temporaryWorkspace({ 'start.txt': 'old\n' });
  const { path, root } = workspace;
  for (const [name, target] of Object.entries(links)) {
    await mkdir(dirname(path(name)), { recursive: true });
    await mkdir(join(dirname(path(name)), dirname(target)), { recursive: true }).catch(() => {});
    await symlink(target.replace('$ROOT', root), path(name));
  }
  return workspace;
}

it.each(LINKED)(
  'no tool changes what a protected link leads to: %s',
  async (_, links, obeyed, open) => {
    const { codeOf, call, put, text } = await linked(links);
    const REFUSED = { code: 'PROTECTED_PATH' };
    expect(await call('write', { path: obeyed, contents: 'new\n' })).toMatchObject(REFUSED);
    const move = { target_file: 'start.txt', new_path: obeyed };
    expect(await call('rename_file', move)).toMatchObject(REFUSED);
    await put(obeyed, 'old\n');
    const edit = { file_path: obeyed, old_string: 'old', new_string: 'new' };
    expect(await call('str_replace', edit)).toMatchObject(REFUSED);
    expect(await call('edit_file', { target_file: obeyed, code_edit: 'new' })).toMatchObject(
      REFUSED,
    );
    expect(await call('delete_file', { target_file: obeyed })).toMatchObject(REFUSED);
    const away = { target_file: obeyed, new_path: 'away.txt' };
    expect(await call('rename_file', away)).toMatchObject(REFUSED);
    expect(await text(obeyed)).toBe('old\n');
    expect(await codeOf('read_file', { target_file: obeyed })).toBe('success');
    expect(await codeOf('write', { path: open, contents: 'x' })).toBe('success');
  },
);

it('a link counts from the moment that a person makes it, and as long as it is there', async () => {
  const { call, path } = await linked({});
  const write = async (name: string) => {
    const result = await call('write', { path: name, contents: 'x' });
    return result.status === 'error' ? result.code : result.status;
  };
  expect(await write('gh/hooks/a.json')).toBe('success');
  await symlink('gh', path('.github'));
  expect(await write('gh/hooks/a.json')).toBe('PROTECTED_PATH');
  await rename(path('gh'), path('gh2'));
  expect([await write('gh2/hooks/a.json'), await write('gh/hooks/a.json')]).toEqual([
    'success',
    'PROTECTED_PATH',
  ]);
  await rm(path('.github'));
  expect(await write('gh/hooks/a.json')).toBe('success');
});

it('a link around itself, out of the workspace or in a circle closes nothing else', async () => {
  const { codeOf } = await linked({
    'a/.vscode': '..',
    '.idea': '../outside',
    '.zed': 'one',
    one: 'two',
    two: 'one',
    '.claude/self': '../.claude',
  });
  for (const name of ['a/b.txt', 'tasks.json', 'outside/x'])
    expect(await codeOf('write', { path: name, contents: 'x' })).toBe('success');
});

it.each([
  ['a relative path', '[core]\n\tbare = false\n\tHooksPath = tools/checks # ours\n', ''],
  ['in quotes, on the line of its section', '[core] hookspath = "tools/../tools/checks"\n', ''],
  ['an absolute path', '[core]\nhooksPath=$ROOT/tools/checks\n', ''],
  ['of a repository inside', '[core]\n\thooksPath = ../tools/checks\n', 'inner/'],
  ['of a repository that a file names', '[core]\n\thooksPath = tools/checks\n', 'file'],
])('no tool changes the hooks that core.hooksPath names: %s', async (_, config, at) => {
  const { call, put, root } = await temporaryWorkspace();
  const text = config.replace('$ROOT', root);
  if (at === 'file') {
    await put('.git', 'gitdir: store/worktrees/a\n');
    await put('store/worktrees/a/commondir', '../..\n');
    await put('store/config', text);
  } else await put(`${at}.git/config`, text);
  const write = async (path: string) => await call('write', { path, contents: 'x' });
  expect(await write('tools/checks/pre-commit')).toMatchObject({ code: 'PROTECTED_PATH' });
  expect(await write('tools/other')).toMatchObject({ status: 'success' });
});

it.each([
  ['many line ends', '\n'.repeat(250_000)],
  ['many blanks', `${' '.repeat(250_000)}x`],
  ['many quotes', `hookspath=${'"a'.repeat(100_000)}`],
  ['a NUL', 'hookspath=tools\0checks\n'],
  ['a name that is too long', `hookspath=${'a/'.repeat(50_000)}\n`],
  ['many names', Array.from({ length: 15_000 }, (_, at) => `hookspath=/${at}`).join('\n')],
])('settings of git with %s hold up no write', async (_, config) => {
  const { call, put } = await temporaryWorkspace();
  for (const name of ['', 'a/', 'b/', 'c/']) await put(`${name}.git/config`, `[core]\n${config}`);
  const cpuMs = cpuMeter();
  expect(await call('write', { path: 'other/a', contents: 'x' })).toMatchObject({
    status: 'success',
  });
  expect(cpuMs()).toBeLessThan(1_000);
});
