import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findClosedEntries, newlyProtected } from '../../../bridge/sandbox/closed-entries.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';

async function folderWith(...paths: string[]): Promise<string> {
  const root = await temporaryFolder();
  for (const path of paths) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), '');
  }
  return root;
}

async function closedIn(root: string): Promise<string[]> {
  const { entries } = await findClosedEntries(root);
  return entries.map(
    ({ path, closure, kind }) => `${closure} ${kind} ${path.slice(root.length + 1)}`,
  );
}

test('protected and secret paths are found at any depth, the nearest first', async () => {
  const root = await folderWith('a/b/c/.git/HEAD', '.git', '.env', '.env.example', 'x/.vscode/a');
  expect((await closedIn(root)).sort()).toEqual([
    'protected file .git',
    'protected folder a/b/c/.git',
    'protected folder x/.vscode',
    'secret file .env',
  ]);
});

test('what is inside of a closed folder or of installed packages is not looked at', async () => {
  const root = await folderWith('.git/modules/a/.env', '.ssh/.git/a', 'node_modules/a/.env');
  expect((await closedIn(root)).sort()).toEqual(['protected folder .git', 'secret folder .ssh']);
});

test('links are found and not followed', async () => {
  const root = await folderWith('real/.env');
  await symlink('/', join(root, 'disk'));
  await symlink('real/.env', join(root, '.env'));
  expect((await closedIn(root)).sort()).toEqual(['secret file real/.env', 'secret link .env']);
});

test('a repository that takes the place of another counts as new', async () => {
  const root = await folderWith('a/.git/HEAD', 'b/.git/HEAD');
  const { entries: before } = await findClosedEntries(root);
  await rename(join(root, 'a'), join(root, 'moved'));
  await mkdir(join(root, 'a/.git'), { recursive: true });
  const { entries: after } = await findClosedEntries(root);
  const found = newlyProtected(before, after).map(({ path }) => path.slice(root.length + 1));
  expect(found.sort()).toEqual(['a/.git', 'moved/.git']);
});
