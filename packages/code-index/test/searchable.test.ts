import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryWorkspace } from '../../../test/bridge/tools/temporary-workspace.ts';
import { conceptVector } from '../../../test/far-ends/embeddings-server.ts';
import { TREE_LIMITS } from '../../workspace/tree/limits.ts';
import { Searchable } from '../searchable.ts';

const EMBEDDER = 'concepts';

async function searchable(files: Readonly<Record<string, string>>) {
  const { root, put } = await temporaryWorkspace(files);
  const path = join(dirname(root), 'index.sqlite');
  const index = Searchable.open({ path, root, parses: false });
  onTestFinished(() => index.close());
  const update = () => index.update(Object.keys(files), () => {});
  await update();
  const find = async (question: string, how: { limit?: number; needsWords?: boolean } = {}) => {
    const numbers = Float32Array.from(conceptVector(question));
    const vector = { embedder: EMBEDDER, numbers, maxMs: 60_000 };
    const { hits } = await index.rank({ question, places: ['.'], limit: 40, vector, ...how });
    return hits.map(({ path }) => path);
  };
  const embed = async () => {
    for (let after: number | null = 0; after !== null; ) {
      const pending = index.pending({ embedder: EMBEDDER, after });
      after = pending.after;
      const vectors = pending.texts.map(({ hash, text }) => {
        return { hash, numbers: Float32Array.from(conceptVector(text)) };
      });
      index.keep({ embedder: EMBEDDER, vectors });
    }
  };
  return { index, root, put, update, find, embed };
}

it('an update reports the files that a search has read again before it', async () => {
  const { put, update, find } = await searchable({ 'a.ts': 'export const zebra = 1;\n' });
  await sleep(TREE_LIMITS.contentSettledMs * 3);
  await update();
  expect(await update()).toMatchObject({ hasChanged: false });
  await put('a.ts', 'export const zebra = 23;\n');
  await sleep(TREE_LIMITS.contentSettledMs * 3);
  expect(await find('zebra')).toEqual(['a.ts']);
  expect(await update()).toMatchObject({ hasChanged: true });
  expect(await update()).toMatchObject({ hasChanged: false });
});

it('reads no file outside by a link in the place of a folder', async () => {
  const { root, update, find } = await searchable({ 'in/a.ts': 'export const zebra = 1;\n' });
  expect(await find('zebra')).toEqual(['in/a.ts']);
  const outside = join(dirname(root), 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'a.ts'), 'export const lion = 1;\n');
  renameSync(join(root, 'in'), join(root, 'was-in'));
  symlinkSync(outside, join(root, 'in'));
  await update();
  expect(await find('zebra')).toEqual([]);
  expect(await find('lion')).toEqual([]);
});

it('where words are needed, vectors only order what these find', async () => {
  const { find, embed } = await searchable({
    'zebra.ts': 'export const zebra = 1;\n',
    'c.ts': `export const animal = 1;\n${'call(value);\n'.repeat(20)}`,
    'a.ts': 'export const animal = 1;\n',
    'b.ts': 'export const animal = "on the savanna";\n',
  });
  await embed();
  expect((await find('striped animal')).sort()).toEqual(['a.ts', 'b.ts', 'c.ts', 'zebra.ts']);
  expect(await find('striped animal', { needsWords: true })).toEqual(['b.ts', 'a.ts', 'c.ts']);
  expect(await find('striped', { needsWords: true })).toEqual([]);
});

it('joins as much of both rankings as is asked for', async () => {
  const names = Array.from({ length: 150 }, (_, at) => `f${at}.ts`);
  const { find, embed } = await searchable(
    Object.fromEntries(names.map((name, at) => [name, `export const zebra${at} = 'zebra';\n`])),
  );
  await embed();
  expect(await find('zebra', { limit: 140 })).toHaveLength(140);
  expect(await find('striped', { limit: 140 })).toHaveLength(140);
});

/** A file with something about everything, in many chunks. */
const LONG = Array.from({ length: 60 }, (_, at) =>
  [
    `export function step${at}() {`,
    at % 2 === 0 ? '  return stripes(zebra);' : '  return graze(savanna);',
    ...Array.from({ length: 40 }, (_, line) => `  call(${at}, ${line});`),
    '}\n',
  ].join('\n'),
).join('\n');

it('a short file about the subject comes before a long one that has it among others', async () => {
  const { find } = await searchable({
    'all.ts': LONG,
    'one.ts': `export function step() {\n  return stripes(zebra);\n${'  call(1, 2);\n'.repeat(40)}}\n`,
  });
  const [first] = await find('stripes zebra graze savanna', { needsWords: true });
  expect(first).toBe('one.ts');
});

it('a file with the name of the subject comes before one that defines it among others', async () => {
  const { find } = await searchable({
    'stripes.ts': 'export function draw(zebra) {\n  return paint(zebra);\n}\n',
    'other.ts': 'export function stripes(zebra) {\n  return paint(zebra);\n}\n',
    'unlike.ts': 'export const value = 1;\n',
  });
  expect(await find('stripes of a zebra')).toEqual(['stripes.ts', 'other.ts']);
});
