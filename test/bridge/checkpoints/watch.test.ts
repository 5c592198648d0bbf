import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { BlobStore } from '../../../bridge/checkpoints/blobs.ts';
import { FolderWatch } from '../../../bridge/checkpoints/watch.ts';
import { fromText } from '../../../machine/byte-path.ts';
import { sha256 } from '../../../machine/hash.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';
import { randomFrom } from './random.ts';

const MANY = 2_000;
const STEPS = 60;
/** So much later every folder counts as unchanged for long. */
const HOUR = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR }));
afterEach(() => void vi.useRealTimers());

/** A folder with files, and the state of it that the looks add up to. */
async function watched(...files: string[]) {
  const base = await temporaryFolder();
  const root = join(base, 'project');
  const path = (name: string) => join(root, name);
  const put = (name: string, text: string) => {
    mkdirSync(join(path(name), '..'), { recursive: true });
    writeFileSync(path(name), text);
  };
  for (const name of files) put(name, name);
  mkdirSync(join(base, 'outside/below'), { recursive: true });
  writeFileSync(join(base, 'outside/below/secret'), 'outside');
  const contents = new BlobStore(join(base, 'contents'));
  const { signal } = new AbortController();
  const watch = new FolderWatch({ root, contents, mayKeep: () => true, signal });
  const known = new Map<string, string>();
  const look = async () => {
    const changes = await watch.look(MANY);
    for (const { path: name, after } of changes) {
      if (after === null) known.delete(name);
      else known.set(name, `${after.mode} ${after.hash}`);
    }
    await tick(join(base, 'clock'));
    return changes.map(({ path: name }) => name).sort();
  };
  await look();
  expect(await look()).toEqual([]);
  return { base, root, path, put, look, known, watch };
}

/** Returns once the file system's clock has moved on, so that the next change shows in times. */
async function tick(probe: string): Promise<void> {
  writeFileSync(probe, '');
  const { ctimeMs } = lstatSync(probe);
  while (lstatSync(probe).ctimeMs === ctimeMs) writeFileSync(probe, '');
}

/** The same state, read anew: Node's own `recursive` follows links. */
function stateOf(root: string, folder = root): [name: string, state: string][] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return stateOf(root, path);
    if (entry.isSymbolicLink())
      return [[relative(root, path), `${0o777} link:${readlinkSync(path)}`]];
    if (!entry.isFile()) return [];
    const state = `${lstatSync(path).mode & 0o777} ${sha256(readFileSync(path))}`;
    return [[relative(root, path), state]];
  });
}

describe('a look at folders that have not changed for long', () => {
  test('finds a file that was written in place, and one of another mode', async () => {
    const { path, put, look } = await watched('a/b/deep', 'a/other', 'top');
    put('a/b/deep', 'new text');
    chmodSync(path('top'), 0o700);
    expect(await look()).toEqual(['a/b/deep', 'top']);
  });

  test('finds the files of a folder that was moved at both places', async () => {
    const { path, look } = await watched('a/b/deep', 'c/other');
    renameSync(path('a/b'), path('c/b'));
    expect(await look()).toEqual(['a/b/deep', 'c/b/deep']);
  });

  test('finds a file that became a folder, and one that was replaced by another of its size', async () => {
    const { path, put, look } = await watched('a/one', 'a/two');
    rmSync(path('a/one'));
    put('a/one/below', '');
    put('a/new', 'A/TWO');
    renameSync(path('a/new'), path('a/two'));
    expect(await look()).toEqual(['a/one', 'a/one/below', 'a/two']);
  });

  test('follows no link in the place of a folder, not even to the folder itself', async () => {
    const { base, path, look } = await watched('a/below/secret', 'b/below/file');
    renameSync(path('a'), path('moved'));
    symlinkSync(join(base, 'outside'), path('a'));
    renameSync(path('b/below'), path('moved/b'));
    symlinkSync('../moved/b', path('b/below'));
    expect(await look()).toEqual([
      'a',
      'a/below/secret',
      'b/below',
      'b/below/file',
      'moved/b/file',
      'moved/below/secret',
    ]);
  });

  test('finds what changed beside a folder too deep to be named, and promises nothing of it', async () => {
    const { path, put, look, watch } = await watched('a/one');
    const name = 'd'.repeat(200);
    const script = `for (let depth = 0; depth < 25; depth++) { fs.mkdirSync('${name}'); process.chdir('${name}'); }`;
    execFileSync(process.execPath, ['-e', script], { cwd: path('a') });
    onTestFinished(() => void execFileSync('rm', ['-rf', path('a')]));
    put('a/one', 'new text');
    expect(await look()).toEqual(['a/one']);
    expect(watch.contentsAt(fromText(path('a/one')))).toHaveLength(1);
    expect(watch.contentsAt(fromText(path('a')))).toBeUndefined();
  });

  test.each([1, 2, 3])('adds up to what is there after random changes (seed %i)', async (seed) => {
    const { random, pick } = randomFrom(seed);
    const { root, path, put, look, known } = await watched('a/b/c/1', 'a/b/2', 'a/3', 'd/4', '5');
    const places = ['a', 'a/b', 'a/b/c', 'd', 'd/e', 'f'];
    const attempt = (act: () => void) => {
      try {
        act();
      } catch {
        // There is nothing to change at this place, or something else in the way.
      }
    };
    const acts = [
      () => put(`${pick(places)}/${random(5)}`, `text ${random(3)}`),
      () => rmSync(path(`${pick(places)}/${random(5)}`), { recursive: true }),
      () => renameSync(path(pick(places)), path(pick(places))),
      () => renameSync(path(`${pick(places)}/${random(5)}`), path(`${pick(places)}/${random(5)}`)),
      () => symlinkSync(path(pick(places)), path(`${pick(places)}/${random(5)}`)),
    ];
    for (let step = 0; step < STEPS; step++) {
      for (let count = random(4); count >= 0; count--) attempt(pick(acts));
      await look();
      expect(Object.fromEntries(known)).toEqual(Object.fromEntries(stateOf(root)));
    }
  });
});
