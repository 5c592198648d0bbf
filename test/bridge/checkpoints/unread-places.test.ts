/** What commands bring from where no look reads: undo has no content of it, so it must not take away the only copy. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CHECKPOINT_LIMITS } from '../../../bridge/checkpoints/limits.ts';
import { previewUndo } from '../../../bridge/checkpoints/undo.ts';
import { sentenceOf } from '../../../bridge/checkpoints/words.ts';
import { TREE_LIMITS } from '../../../packages/workspace/tree/limits.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { Shell } from './shell.ts';
import { UndoneFolder } from './undone-folder.ts';

keepFoldersInMemory();

const FILES = {
  'b.md': 'B\n',
  'target/CACHEDIR.TAG': '',
  'target/notes.md': 'mine\nnotes\n',
  'target/src/a.rs': 'fn mine\n',
  'env/pyvenv.cfg': '',
  'env/mine.py': 'mine = env\n',
  'node_modules/foo/i.js': 'mine = js\n',
};

async function workspace(files: Readonly<Record<string, string>> = FILES) {
  const folder = await UndoneFolder.make();
  const shell = new Shell();
  onTestFinished(async () => {
    await shell[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });
  const at = (name: string) => join(folder.root, name);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  }
  await sleep(3 * TREE_LIMITS.contentSettledMs);
  await folder.command(() => {});
  return {
    folder,
    at,
    text: (name: string) => readFileSync(at(name), 'utf8'),
    run: (line: string, response?: string) =>
      folder.command(() => shell.run(line, folder.root), response),
  };
}

const LAST = { scope: 'last' } as const;
const REDO = { scope: 'redo' } as const;

describe('a new file that undo leaves, and the command names', () => {
  test.each([
    ['mv target/notes.md new', 'new'],
    ['mv target/notes.md new; touch new', 'new'],
    ['mv target/notes.md new; echo x >> new', 'new'],
    ['mv target/notes.md new; sed -i s/notes/y/ new', 'new'],
    ['mv target/src/a.rs new; sed -i s/fn/pub/ new', 'new'],
    ['mv target/src/a.rs new; sed -i s/fn/pub/ new; mv env/mine.py env/a.rs', 'new'],
    ['mv target/src src', 'src/a.rs'],
    ['rm target/CACHEDIR.TAG; mv target src', 'src/notes.md'],
    ['rm target/CACHEDIR.TAG; sed -i s/notes/y/ target/notes.md', 'target/notes.md'],
    ['cp target/notes.md new; rm target/notes.md', 'new'],
    ['cp target/src/a.rs new; echo x > target/src/a.rs', 'new'],
    ['cp target/src/a.rs new; echo x > target/src/a.rs; mv target/src src', 'new'],
    ['install -m 644 target/notes.md new; rm -r target', 'new'],
    ['tar cf - -C target notes.md | tar xf -; rm -r target', 'notes.md'],
    ['cp -r target/src src; rm -r target/src', 'src/a.rs'],
    ['mv env/mine.py new; sed -i s/env/y/ new', 'new'],
    ['mv node_modules/foo foo', 'foo/i.js'],
    ['mv node_modules/foo/i.js new; touch new', 'new'],
    ['ln target/notes.md new; rm target/notes.md', 'new'],
  ])('%s', async (line, name) => {
    const { folder, run, at, text } = await workspace();
    expect(await run(line)).toContain(name);
    const made = text(name);
    expect(made).toMatch(/mine/);
    expect(await folder.undo(LAST)).toMatchObject({ [name]: 'foreign' });
    expect(text(name)).toBe(made);
    expect(text('b.md')).toBe('B\n');
    await folder.undo(REDO);
    expect(existsSync(at(name))).toBe(true);
  });
});

test.each([
  'mv target/notes.md b.md',
  'mv target/notes.md b.md; echo x >> b.md',
  'mv target/notes.md b.md; sed -i s/notes/y/ b.md',
  'mv b.md target/; mv target/src/a.rs b.md',
  'cp target/notes.md b.md; rm target/notes.md',
  'cat target/src/a.rs > b.md; rm -r target/src',
])('%s: the place is given back, and what came there goes beside it', async (line) => {
  const { folder, run, at, text } = await workspace();
  expect(await run(line)).toEqual([]);
  const brought = text('b.md');
  for (const _ of [1, 2]) {
    expect(await folder.undo(LAST)).toEqual({ 'b.md': 'restore', 'b.md.before-undo': 'restore' });
    expect([text('b.md'), text('b.md.before-undo')]).toEqual(['B\n', brought]);
    await folder.undo(REDO);
    expect(text('b.md')).toBe(brought);
    expect(existsSync(at('b.md.before-undo'))).toBe(false);
  }
});

test('what was brought and moved on, edited or deleted by the same message comes back', async () => {
  const { folder, run, text, at } = await workspace();
  await run('mv target/notes.md new', 'resp_2');
  await run('mv new next; mv env/mine.py mine.py; cp target/src/a.rs copy', 'resp_2');
  await run('echo x >> mine.py; rm next target/src/a.rs', 'resp_2');
  expect(await folder.undo({ scope: 'response', id: 'resp_2' })).toEqual({
    new: 'restore',
    next: 'none',
    'mine.py': 'restore',
    copy: 'foreign',
  });
  expect([text('new'), text('mine.py'), text('copy')]).toEqual([
    FILES['target/notes.md'],
    FILES['env/mine.py'],
    FILES['target/src/a.rs'],
  ]);
  expect(existsSync(at('next'))).toBe(false);
});

test('many files that were copied before their folder went stay', async () => {
  const { maxGone } = CHECKPOINT_LIMITS;
  Object.assign(CHECKPOINT_LIMITS, { maxGone: 5 });
  onTestFinished(() => void Object.assign(CHECKPOINT_LIMITS, { maxGone }));
  const files = Array.from({ length: 20 }, (_, at) => [`target/d/many/m${at}`, `mine ${at}\n`]);
  const { folder, run, at } = await workspace({ ...FILES, ...Object.fromEntries(files) });
  expect(await run('cp -r target/d/many many; rm -r target/d/many')).toHaveLength(20);
  await folder.undo(LAST);
  expect(readdirSync(at('many'))).toHaveLength(20);
});

test('the history keeps what went of the newest commands, and all changes', async () => {
  const { maxAllGone } = CHECKPOINT_LIMITS;
  Object.assign(CHECKPOINT_LIMITS, { maxAllGone: 3 });
  onTestFinished(() => void Object.assign(CHECKPOINT_LIMITS, { maxAllGone }));
  const files = Array.from({ length: 6 }, (_, at) => [`target/m${at}`, `mine ${at}\n`]);
  const { folder, run, text } = await workspace({ ...FILES, ...Object.fromEntries(files) });
  for (const at of [0, 1, 2, 3]) await run(`cp target/m${at} copy${at}; rm target/m${at}`);
  await run('rm target/m4');
  await run('rm target/m5');
  const { entries } = folder.checkpoints.history;
  expect(entries.map(({ gone, changes }) => [changes.length, gone?.length])).toEqual([
    ...[0, 1, 2].map(() => [1, 0]),
    [1, 1],
    [0, 1],
    [0, 1],
  ]);
  await folder.undo(LAST);
  expect([0, 1, 2, 3].map((at) => text(`copy${at}`))).toEqual(
    files.slice(0, 4).map((one) => one[1]),
  );
});

test('undo names what it leaves and what it puts aside', async () => {
  const { folder, run } = await workspace();
  await run('mv target/notes.md b.md; mv env/mine.py new; echo x > own');
  const { checkpoints, workspace: place, signal, conversation } = folder;
  const selection = { ...LAST, conversation, call: 'call_2', isConfined: false };
  const undo = await previewUndo({ checkpoints, workspace: place, signal }, selection);
  expect(sentenceOf(undo, false)).toBe(
    "At the user's request, Drawbridge took back changes in b.md, b.md.before-undo, own. " +
      'Of these: b.md.before-undo (it has what b.md was, maybe the only copy of a file from where ' +
      'undo does not look). These stay as they are: new (it may be the only copy of a file from ' +
      'where undo does not look).',
  );
});

test('a copy that undo leaves because the person deleted the first', async () => {
  const { folder, run, text, at } = await workspace();
  await run('cp target/notes.md new');
  expect(await folder.undo(LAST, { isPreview: true })).toEqual({ new: 'restore' });
  rmSync(at('target/notes.md'));
  expect(await folder.undo(LAST)).toEqual({ new: 'foreign' });
  expect(text('new')).toBe(FILES['target/notes.md']);
});

test('a copy that undo puts aside because a tool wrote over the first', async () => {
  const { folder, run, text } = await workspace();
  await run('cat target/notes.md > b.md', 'resp_2');
  await folder.write('target/notes.md', 'tool\n', 'resp_3');
  expect(await folder.undo({ scope: 'response', id: 'resp_2' })).toEqual({
    'b.md': 'restore',
    'b.md.before-undo': 'restore',
  });
  expect(text('b.md.before-undo')).toBe(FILES['target/notes.md']);
});

describe('an edited copy that nothing tells from the work of a command: undo takes it away with a word', () => {
  const many = Array.from({ length: 20 }, (_, at) => [`target/src/d/m${at}`, `mine ${at}\n`]);
  test.each([
    ['of a file that was written over', 'cp target/notes.md new; echo > target/notes.md'],
    ['of one that has a new file in its place', 'cp target/src/a.rs new; mv b.md target/src/a.rs'],
    ['of one of many that went', 'cp target/src/d/m1 new; rm -r target/src/d'],
  ])('%s', async (_, line) => {
    const { folder, run, at, text } = await workspace({ ...FILES, ...Object.fromEntries(many) });
    await run(`${line}; echo x >> new`);
    const made = text('new');
    expect(made).toMatch(/mine/);
    const { checkpoints, workspace: place, signal, conversation } = folder;
    const selection = { ...LAST, conversation, call: 'call_2', isConfined: false };
    const undo = await previewUndo({ checkpoints, workspace: place, signal }, selection);
    expect(sentenceOf(undo, false)).toContain(
      'Of these: new (what it had may be an edited copy of a file from where undo does not look: a ' +
        'redo brings it back).',
    );
    expect(await folder.undo(LAST)).toMatchObject({ new: 'doubtful' });
    expect(existsSync(at('new'))).toBe(false);
    expect(Object.values(await folder.undo(REDO))).not.toContain('doubtful');
    expect(text('new')).toBe(made);
  });
});

describe('a plain undo removes new files', () => {
  test.each([
    ['while the caches stay', ['echo x > new; cp b.md copy; cp target/notes.md notes']],
    ['that moved from a place with the same content again', ['mv b.md new; echo B > b.md']],
    ['while a cache grows', ['echo x > new; echo y > target/new; mkdir target/d']],
    ['while a cache is written anew', ['echo long text > new; echo y > target/notes.md']],
    [
      'that a cache of the message had',
      ['mkdir c; touch c/CACHEDIR.TAG; echo x > c/o', 'mv c/o new'],
    ],
    ['that were in a cache meanwhile', ['echo x > new', 'mv new target/new', 'mv target/new new']],
    ['that a tool had written there', ['TOOL', 'mv target/tool new']],
    [
      'while a build moves a file',
      ['mkdir target/b; echo y > target/b/a.rs; rm target/src/a.rs; echo text > new'],
    ],
    [
      'while packages are renewed',
      ['echo { > node_modules/foo/i.js; echo x >> b.md; echo y > i.js; echo z > node_modules/b.md'],
    ],
    ['while a build replaces its files', ['rm target/many/*; echo text > new; sed -i s/B/C/ b.md']],
    [
      'while what the message made there goes',
      ['echo x > target/o', 'rm target/o; echo text > new'],
    ],
  ])('%s', async (_, lines) => {
    const many = Array.from({ length: 20 }, (_, at) => [`target/many/m${at}`, 'x'.repeat(90 + at)]);
    const { folder, run } = await workspace({ ...FILES, ...Object.fromEntries(many) });
    const list = () => readdirSync(folder.root).sort();
    const before = list();
    for (const line of lines) {
      if (line === 'TOOL') await folder.write('target/tool', 'tool\n');
      else expect(await run(line)).toEqual([]);
    }
    await folder.undo(LAST);
    expect(list().filter((name) => name !== 'c')).toEqual(before);
  });
});

describe('in a workspace with more files than are watched', () => {
  const few = () => {
    const { maxWatched } = CHECKPOINT_LIMITS;
    Object.assign(CHECKPOINT_LIMITS, { maxWatched: 20 });
    onTestFinished(() => void Object.assign(CHECKPOINT_LIMITS, { maxWatched }));
    const names = Array.from({ length: 30 }, (_, at) => [
      `d${Math.trunc(at / 10)}/${at}`,
      `n ${at}\n`,
    ]);
    const deep = { 'd2/x/y/only': 'mine\n', 'd2/x/y/more': 'more, mine\n' };
    return workspace({ 'b.md': 'B\n', ...Object.fromEntries(names), ...deep });
  };

  test.each([
    ['mv d2/x/y/only new', { new: 'foreign' }],
    ['cp d2/x/y/only new; rm d2/x/y/only', { new: 'foreign' }],
    ['mv d2/x/y/only b.md', { 'b.md': 'restore', 'b.md.before-undo': 'restore' }],
    ['echo new > new', { new: 'restore' }],
  ])('%s', async (line, done) => {
    const { folder, run } = await few();
    await run(line);
    expect(await folder.undo(LAST)).toEqual(done);
    const all = readdirSync(folder.root, { recursive: true, encoding: 'utf8' });
    const found = all.filter((name) => /(only|new|b\.md\.before-undo)$/.test(name));
    expect(found.length).toBe(1);
  });

  test('files that come into view are no changes', async () => {
    const { folder, run, text } = await few();
    expect(await run('rm -r d0')).toEqual([]);
    const done = await folder.undo(LAST);
    expect(Object.keys(done)).toHaveLength(10);
    expect([text('d2/29'), text('d0/0')]).toEqual(['n 29\n', 'n 0\n']);
  });
});
