import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fromText } from '../../../../machine/byte-path.ts';
import { temporaryFolder } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { Tree } from '../../tree/tree.ts';

/** So much later every folder counts as unchanged for long. */
const HOUR = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR }));
afterEach(() => void vi.useRealTimers());

async function tree() {
  const root = await temporaryFolder();
  const path = (name: string) => join(root, name);
  mkdirSync(path('a/b'), { recursive: true });
  writeFileSync(path('a/file'), '');
  symlinkSync('a', path('link'));
  const known = Tree.of(fromText(root));
  const read = (name = '') => known.read(fromText(name === '' ? root : path(name)));
  read();
  return { root, path, known, read };
}

test('a folder has its entries with their kinds, and links are not followed', async () => {
  const { read } = await tree();
  expect(read()?.entries).toEqual(
    new Map([
      ['a', 'folder'],
      ['link', 'link'],
    ]),
  );
  expect(read('a')?.entries).toEqual(
    new Map([
      ['b', 'folder'],
      ['file', 'file'],
    ]),
  );
  expect([read('link'), read('link/b'), read('a/file'), read('none')]).toEqual(
    Array(4).fill(undefined),
  );
});

test('a folder stays the same object until its entries change, for every room', async () => {
  const { root, path, read } = await tree();
  const before = read('a');
  writeFileSync(path('a/file'), 'new text');
  writeFileSync(path('a/b/deeper'), '');
  expect(read('a')).toBe(before);
  expect(Tree.of(fromText(root)).read(fromText(path('a')))).toBe(before);
  writeFileSync(path('a/other'), '');
  expect(read('a')).not.toBe(before);
  expect(read('a')?.entries.has('other')).toBe(true);
});

test('a folder that changed just before it was read is read again', async () => {
  const { read, path } = await tree();
  vi.setSystemTime(Date.now() - HOUR);
  writeFileSync(path('a/other'), '');
  expect(read('a')).not.toBe(read('a'));
  expect(read('a')).toEqual({ ...read('a'), readMs: expect.any(Number) });
});

test('a folder whose time of change is set back is read again', async () => {
  const { read, path } = await tree();
  const past = new Date(Date.now() - 2 * HOUR);
  utimesSync(path('a'), past, past);
  const before = read('a');
  writeFileSync(path('a/other'), '');
  utimesSync(path('a'), past, past);
  expect(read('a')?.entries.has('other')).toBe(true);
  expect(before?.entries.has('other')).toBe(false);
});

test('a folder that took the place of another is read anew, and so is what lies below', async () => {
  const { read, path } = await tree();
  const [a, b] = [read('a'), read('a/b')];
  mkdirSync(path('new/b'), { recursive: true });
  rmSync(path('a'), { recursive: true });
  renameSync(path('new'), path('a'));
  expect(read()?.entries.get('a')).toBe('folder');
  expect(read('a')).not.toBe(a);
  expect(read('a/b')).not.toBe(b);
});
