import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkStorage } from '../../../local/check/check-storage.ts';
import { removeEmptyDatabases } from '../../../local/runtime/empty-databases.ts';
import { store } from '../check/stored.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Objects, and whether the files of each are removed. */
const OBJECTS: readonly (readonly [statements: readonly string[], isRemoved: boolean])[] = [
  [['select 1 from sqlite_master'], true],
  [['create table t (a)', 'insert into t values (1)', '@erase'], true],
  [['create table t (a)'], false],
  [['create table t (a)', 'insert into t values (1)'], false],
  [['@alarm'], false],
  [['create table t (a)', '@erase', 'create table t (a)'], false],
  [['@erase', '@alarm'], false],
];

test.each(['as they are left', 'with their logs written back'])(
  'only databases without a table are removed, %s',
  async (state) => {
    const storage = join(temporaryFolder(), 'storage');
    const files = await store(
      storage,
      OBJECTS.map(([statements], index) => {
        return { className: 'Conversation', name: `object ${index}`, statements };
      }),
    );
    if (state !== 'as they are left') await checkStorage(storage, new AbortController().signal);
    const metadata = join(storage, 'drawbridge-Conversation', 'metadata.sqlite');
    writeFileSync(metadata, '');
    const odd = join(storage, 'drawbridge-Conversation', `${'f'.repeat(64)}.sqlite`);
    writeFileSync(odd, 'x'.repeat(4096));
    removeEmptyDatabases(storage);
    const kept = files.map((file) => existsSync(file));
    expect(kept).toEqual(OBJECTS.map(([, isRemoved]) => !isRemoved));
    expect([metadata, odd, `${files[0]}-wal`].map((path) => existsSync(path))).toEqual([
      true,
      true,
      false,
    ]);
  },
);

test('a storage that is not there has nothing to remove', () => {
  expect(removeEmptyDatabases(join(temporaryFolder(), 'storage'))).toBe(0);
});
