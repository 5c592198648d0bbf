import {
  cpSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkStorage } from '../../../local/check/check-storage.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { PAGE } from '../small-disk.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { account, conversation, store } from './stored.ts';

keepFoldersInMemory();

const IDS = [1, 2, 3].map((n) => `conv_${n}1111111-1111-4111-8111-111111110000`);
const [FIRST = '', SECOND = '', THIRD = ''] = IDS;

/** Each damage, and what must be there to be damaged. */
const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  'a page in the middle': (file) =>
    overwrite(file, Math.floor(statSync(file).size / 2 / PAGE) * PAGE, 2 * PAGE),
  'the first page': (file) => overwrite(file, 0, PAGE),
  'its tables': (file) => overwrite(file, 100, PAGE - 100),
  'its end': (file) => truncateSync(file, Math.floor(statSync(file).size / 2 / PAGE) * PAGE - 7),
  'all of it': (file) => writeFileSync(file, 'no database'),
};

let origin = '';
let files: readonly string[] = [];

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-tests-'));
  origin = join(folder, 'storage');
  files = await store(origin, [
    conversation(FIRST, 'ana'),
    conversation(SECOND, 'ana'),
    conversation(THIRD, 'gone'),
    account('ana', [FIRST, SECOND]),
    account('gone', [], 'deleted'),
  ]);
  // Into the files themselves, as any start does with a log that was left.
  await check(origin);
  return () => rmSync(folder, { recursive: true, force: true });
});

test('a whole storage has no damage, and names what a deleted account has left', async () => {
  expect(await check(copied())).toEqual({
    files: 7,
    owned: expect.arrayContaining(
      ['ana', 'ana', 'gone', 'ana', 'gone'].map((name, index) =>
        expect.objectContaining({ path: pathOf(index), account: name }),
      ),
    ),
    damaged: [],
    left: [{ path: pathOf(2), conversation: THIRD, account: 'gone' }],
  });
});

describe.each(Object.keys(DAMAGES))('%s, damaged', (kind) => {
  test.each([
    [0, `conversation ${FIRST} of account ana`],
    [3, 'account ana'],
  ] as const)('is found in file %i, with its name', async (index, what) => {
    const storage = copied();
    DAMAGES[kind]?.(join(storage, ...(files[index]?.split('/').slice(-2) ?? [])));
    const { damaged } = await check(storage);
    expect(damaged).toEqual([{ path: pathOf(index), what, problem: expect.any(String) }]);
  });
});

test('a damaged list of alarms is found', async () => {
  const storage = copied();
  writeFileSync(join(storage, 'drawbridge-Conversation', 'metadata.sqlite'), 'no database');
  expect((await check(storage)).damaged).toMatchObject([
    {
      path: 'storage/drawbridge-Conversation/metadata.sqlite',
      what: 'list of the alarms of each conversation',
    },
  ]);
});

test('a storage without a file is whole', async () => {
  expect(await check(temporaryFolder())).toEqual({ files: 0, owned: [], damaged: [], left: [] });
});

function check(storage: string) {
  return checkStorage(storage, new AbortController().signal);
}

function copied(): string {
  const storage = join(temporaryFolder(), 'storage');
  cpSync(origin, storage, { recursive: true });
  return storage;
}

function pathOf(index: number): string {
  return ['storage', ...(files[index]?.split('/').slice(-2) ?? [])].join('/');
}

function overwrite(file: string, from: number, bytes: number): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(bytes, 0xa5), 0, bytes, from);
}
