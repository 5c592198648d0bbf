/** File tools that work at the same time make no folder that the person's git takes for a repository. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { randomFrom } from '../../../test/bridge/checkpoints/random.ts';
import {
  contextIn,
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../../../test/bridge/tools/temporary-workspace.ts';
import { fewOf } from '../../../test/depth.ts';
import { looksLikeRepository } from '../closed/protected.ts';
import { completeRepository } from '../repository-marks.ts';
import { Workspace } from '../workspace.ts';

/** Every name that git obeys in such a folder, with what makes git run a program. */
const PARTS = {
  HEAD: 'ref: refs/heads/a\n',
  'objects/a': 'x',
  'refs/a': 'x',
  config:
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch ../../ran; false"\n',
  'hooks/post-index-change': '#!/bin/sh\ntouch ../../ran\n',
} as const;
type Part = keyof typeof PARTS;
const ROUNDS = fewOf(40, 10);
const FOLDER = 'sub/x';

test('the settings run a program where nothing is in their way', async () => {
  const place = await temporaryWorkspace();
  for (const part of partsOf()) await place.put(`${FOLDER}/${part}`, PARTS[part]);
  expect(await isRunByGit(place)).toBe(true);
});

test('calls at once leave the last of its files out, in whatever workspace they work', async () => {
  const { random } = randomFrom(7);
  for (let round = 0; round < ROUNDS; round++) {
    const place = await temporaryWorkspace(
      Object.fromEntries(partsOf().map((part) => [`source/${part}`, PARTS[part]])),
    );
    const nested = await contextIn(await nestedIn(place));
    const parts = shuffled(partsOf(), random);
    const already = parts.splice(0, random(3));
    for (const part of already) await place.put(`${FOLDER}/${part}`, PARTS[part]);
    const results = await Promise.all(
      parts.map((part) => {
        const isNested = random(10) < 3;
        const at = isNested ? FOLDER.slice('sub/'.length) : FOLDER;
        const changes = isNested ? nested : {};
        return random(2) === 0 && !isNested
          ? place.call('rename_file', { target_file: `source/${part}`, new_path: `${at}/${part}` })
          : place.call('write', { path: `${at}/${part}`, contents: PARTS[part] }, changes);
      }),
    );
    const there = await readdir(join(place.root, FOLDER));
    expect([round, looksLikeRepository(new Set(there))]).toEqual([round, false]);
    expect(await isRunByGit(place)).toBe(false);
    // A file that was refused is nowhere but where it came from.
    for (const [at, result] of results.entries()) {
      const isMade = existsSync(join(place.root, FOLDER, parts[at] ?? ''));
      expect([round, parts[at], isMade]).toEqual([round, parts[at], result.status === 'success']);
    }
    expect(results.some((result) => result.status === 'error')).toBe(true);
  }
});

async function nestedIn({ root, put }: TemporaryWorkspace): Promise<Workspace> {
  await put('sub/readme.md', '');
  return await Workspace.open(join(root, 'sub'));
}

async function isRunByGit({ root }: TemporaryWorkspace): Promise<boolean> {
  const env = { PATH: process.env['PATH'], HOME: join(root, '..'), GIT_CONFIG_NOSYSTEM: '1' };
  await promisify(execFile)('git', ['status'], { cwd: join(root, FOLDER), env }).catch(() => {});
  return existsSync(join(root, 'ran')) || existsSync(join(root, 'sub/ran'));
}

function partsOf(): Part[] {
  return Object.keys(PARTS) as Part[];
}

function shuffled<Value>(values: readonly Value[], random: (below: number) => number): Value[] {
  return values
    .map((value) => ({ value, order: random(1000) }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value);
}

test.each([
  ['write', 'HEAD', { path: 'x/HEAD', contents: PARTS.HEAD }],
  ['write', 'objects', { path: 'x/objects/a', contents: '' }],
  ['rename_file', 'HEAD', { target_file: 'head.txt', new_path: 'x/HEAD' }],
])(
  '%s takes x/%s back where another program makes the rest right before',
  async (tool, last, args) => {
    const place = await temporaryWorkspace({ 'head.txt': PARTS.HEAD, 'x/config': PARTS.config });
    const settled: boolean[] = [];
    const keep = () => {
      for (const mark of ['HEAD', 'objects', 'refs'].filter((name) => name !== last)) {
        mkdirSync(join(place.root, 'x', mark), { recursive: true });
      }
      return (isMade: boolean) => void settled.push(isMade);
    };
    expect(await place.codeOf(tool, args, { keep })).toBe('PROTECTED_PATH');
    expect(existsSync(join(place.root, 'x', last))).toBe(false);
    expect([await place.text('head.txt'), settled]).toEqual([PARTS.HEAD, [false]]);
  },
);

test('a name that a forgiving file system takes for a part is one', async () => {
  const place = await temporaryWorkspace({ 'x/objects/a': '', 'x/refs/a': '' });
  for (const name of ['head', 'Head', 'HEAD.', 'HE\u200bAD']) {
    expect(await place.codeOf('write', { path: `x/${name}`, contents: '' })).toBe('PROTECTED_PATH');
  }
});

test('a part in a folder that cannot be looked into counts as there', async () => {
  const marks = [{ folder: '/proc/1/cwd'.padEnd(5000, 'x'), name: 'HEAD' }];
  expect(await completeRepository(marks)).toBe(true);
});
