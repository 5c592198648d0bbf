import { chmod, mkdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fromText, toText } from '../../../../machine/byte-path.ts';
import { temporaryFolder } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { WorkspaceScan } from '../../closed/scan.ts';

const LIMIT_MS = 10_000;

async function folderWith(...paths: string[]): Promise<string> {
  const root = await temporaryFolder();
  for (const path of paths) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), '');
  }
  return root;
}

async function closedIn(root: string, scan = new WorkspaceScan(fromText(root))): Promise<string[]> {
  const { entries } = await scan.look(LIMIT_MS);
  return entries
    .map(({ path, closure, kind }) => `${closure} ${kind} ${toText(path).slice(root.length + 1)}`)
    .sort();
}

test('protected and secret paths are found at any depth, the nearest first', async () => {
  const root = await folderWith('a/b/c/.git/HEAD', '.git', '.env', '.env.example', 'x/.vscode/a');
  expect(await closedIn(root)).toEqual([
    'protected file .git',
    'protected folder a/b/c/.git',
    'protected folder x/.vscode',
    'secret file .env',
  ]);
});

test('what is inside of a closed folder is not looked at, installed packages are', async () => {
  const root = await folderWith('.git/modules/a/.env', '.ssh/.git/a', 'node_modules/a/.env');
  expect(await closedIn(root)).toEqual([
    'protected folder .git',
    'secret file node_modules/a/.env',
    'secret folder .ssh',
  ]);
});

test('links are found and not followed', async () => {
  const root = await folderWith('real/.env');
  await symlink('/', join(root, 'disk'));
  await symlink('real/.env', join(root, '.env'));
  expect(await closedIn(root)).toEqual(['secret file real/.env', 'secret link .env']);
});

test('names that are not UTF-8 are looked into', async () => {
  const root = await temporaryFolder();
  const folder = Buffer.from(`${root}/api\xff`, 'latin1');
  await mkdir(folder);
  await writeFile(Buffer.concat([folder, Buffer.from('/.env')]), '');
  const { entries } = await new WorkspaceScan(fromText(root)).look(LIMIT_MS);
  expect(entries.map(({ path }) => path)).toEqual([`${fromText(root)}/api\xff/.env`]);
});

test('a folder that cannot be looked into is closed as a whole', async () => {
  const root = await folderWith('locked/.env');
  await chmod(join(root, 'locked'), 0);
  const closed = await closedIn(root);
  await chmod(join(root, 'locked'), 0o700);
  expect(closed).toEqual(['secret folder locked']);
});

test('a folder too deep to be mounted on is closed as a whole', async () => {
  const root = await temporaryFolder();
  const names = Array.from({ length: 20 }, () => 'd'.repeat(200));
  await mkdir(join(root, ...names), { recursive: true });
  const [closed, ...more] = await closedIn(root);
  expect(more).toEqual([]);
  expect(closed).toMatch(/^secret folder (d{200}\/){10,18}d{200}$/);
});

test('a later look finds what came, went and moved', async () => {
  const root = await folderWith('a/.env', 'b/c/.git/HEAD', 'old/.bazelrc');
  const scan = new WorkspaceScan(fromText(root));
  await closedIn(root, scan);
  await rename(join(root, 'b/c'), join(root, 'a/c'));
  await rename(join(root, 'old'), join(root, 'a/new'));
  await writeFile(join(root, 'a/c/.tool-versions'), '');
  expect(await closedIn(root, scan)).toEqual([
    'protected file a/c/.tool-versions',
    'protected file a/new/.bazelrc',
    'protected folder a/c/.git',
    'secret file a/.env',
  ]);
});

test('a folder whose time is set back is read again', async () => {
  const root = await folderWith('a/file');
  const scan = new WorkspaceScan(fromText(root));
  const past = new Date(Date.now() - 60_000);
  await utimes(join(root, 'a'), past, past);
  await closedIn(root, scan);
  await writeFile(join(root, 'a/.env'), '');
  await utimes(join(root, 'a'), past, past);
  expect(await closedIn(root, scan)).toEqual(['secret file a/.env']);
});

test('a look without time is cut', async () => {
  const root = await folderWith('a/b/c/.env');
  expect((await new WorkspaceScan(fromText(root)).look(-1)).isCut).toBe(false);
});
