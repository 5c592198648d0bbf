/** A deletion that asked nobody, because an undo has the content, and what comes later. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CHECKPOINT_LIMITS } from '../../../bridge/checkpoints/limits.ts';
import { KIB } from '../../../shared/units.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { Shell } from './shell.ts';
import { UndoneFolder } from './undone-folder.ts';

keepFoldersInMemory();

/** A small store, which is soon full. */
const SMALL = {
  maxStoreBytes: 256 * KIB,
  maxPromisedBytes: 128 * KIB,
  maxWatchedBytes: 128 * KIB,
  maxChanges: 60,
  maxPromised: 30,
  maxWatched: 40,
};

async function smallStore(files: Readonly<Record<string, number>>) {
  const before = { ...CHECKPOINT_LIMITS };
  Object.assign(CHECKPOINT_LIMITS, SMALL);
  const folder = await UndoneFolder.make();
  const shell = new Shell();
  onTestFinished(async () => {
    Object.assign(CHECKPOINT_LIMITS, before);
    await shell[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(join(folder.root, name, '..'), { recursive: true });
    writeFileSync(join(folder.root, name), textOf(name, bytes));
  }
  await folder.command(() => {});
  return {
    folder,
    at: (name: string) => join(folder.root, name),
    asks: (name: string) => !folder.checkpoints.canRestore(folder.root, join(folder.root, name)),
    run: (line: string, response?: string) =>
      folder.command(() => shell.run(line, folder.root), response),
  };
}

const textOf = (name: string, bytes: number) => name.padEnd(bytes, '.');

const MANY = 'for i in $(seq 64); do head -c 16384 /dev/urandom > made$i; done';
const FIRST = { scope: 'response', id: 'resp_1' } as const;

test.each([
  ['writes more than the store has', ['rm a', MANY]],
  ['is the same that writes more than the store has', [`rm a; ${MANY}`]],
  ['changes more files than the history has', ['rm a', 'touch $(seq 100)', 'rm $(seq 100)']],
  ['makes more files than are watched', ['rm a; touch $(seq 100)']],
  ['writes through a restart of the bridge', ['rm a', 'restart', MANY, 'restart', MANY]],
])('what a deletion rests on outlasts a command that %s', async (_, lines) => {
  const { folder, at, asks, run } = await smallStore({ a: 10_000, b: 10_000 });
  expect(asks('a')).toBe(false);
  for (const [number, line] of lines.entries()) {
    if (line === 'restart') folder.restart();
    else await run(line, `resp_${number + 1}`);
  }
  expect(existsSync(at('a'))).toBe(false);
  expect(await folder.undo(FIRST)).toMatchObject({ a: 'restore' });
  expect(readFileSync(at('a'), 'utf8')).toBe(textOf('a', 10_000));
});

test.each([
  ['delete_file', (folder: UndoneFolder) => folder.delete('a')],
  ['write', (folder: UndoneFolder) => folder.write('a', 'new\n')],
])('what %s rests on outlasts commands, too', async (_, act) => {
  const { folder, at, run } = await smallStore({ a: 10_000 });
  expect(folder.checkpoints.canKeep(readFileSync(at('a')))).toBe(true);
  await act(folder);
  await run(MANY, 'resp_2');
  expect(await folder.undo(FIRST)).toEqual({ a: 'restore' });
  expect(readFileSync(at('a'), 'utf8')).toBe(textOf('a', 10_000));
});

test('deletions ask again once no more contents can be kept for good', async () => {
  const names = ['a', 'b', 'c', 'd'];
  const { folder, asks, run } = await smallStore(
    Object.fromEntries(names.map((name) => [name, 40_000])),
  );
  const asked: boolean[] = [];
  for (const [at, name] of names.entries()) {
    asked.push(asks(name));
    if (!asked[at]) await run(`rm ${name}`, `resp_${at + 1}`);
    await run(MANY, 'resp_9');
  }
  expect(asked).toEqual([false, false, false, true]);
  folder.restart();
  expect(folder.checkpoints.canKeep(Buffer.alloc(40_000))).toBe(false);
  for (const at of [0, 1, 2])
    expect(await folder.undo({ scope: 'response', id: `resp_${at + 1}` })).toEqual({
      [names[at] ?? '']: 'restore',
    });
});

test('a deletion of as many files as the history keeps for good asks', async () => {
  const files = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`d/${at}`, 100]));
  const { asks } = await smallStore(files);
  expect([asks('d'), asks('d/1')]).toEqual([true, false]);
});

test('a deletion asks where no look would see it', async () => {
  const { folder, asks, at } = await smallStore({ a: 100, 'node_modules/b/c': 100, 'e/f': 100 });
  writeFileSync(at('e/CACHEDIR.TAG'), '');
  expect(['node_modules/b/c', 'node_modules/b', 'e/f'].map(asks)).toEqual([true, true, true]);
  for (let number = 0; number < 60; number++) writeFileSync(at(`more${number}`), `${number}`);
  await folder.command(() => {});
  mkdirSync(at('z'));
  writeFileSync(at('z/last'), 'z');
  expect(asks('z/last')).toBe(true);
});

test('a file is known before its deletion, however many others changed', async () => {
  const { folder, at, asks, run } = await smallStore({ z: 100 });
  const before = CHECKPOINT_LIMITS.maxReadBefore;
  Object.assign(CHECKPOINT_LIMITS, { maxReadBefore: 4 });
  onTestFinished(() => void Object.assign(CHECKPOINT_LIMITS, { maxReadBefore: before }));
  for (let number = 0; number < 20; number++) writeFileSync(at(`a${number}`), `${number}`);
  writeFileSync(at('z'), 'new\n');
  expect(asks('z')).toBe(false);
  await run('rm z');
  expect(await folder.undo(FIRST)).toEqual({ z: 'restore' });
  expect(readFileSync(at('z'), 'utf8')).toBe('new\n');
});
