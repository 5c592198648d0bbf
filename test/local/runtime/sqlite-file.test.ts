import { appendFileSync, copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { readSqliteTable } from '../../../local/runtime/sqlite-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Enough rows that the tables have pages below pages below pages. */
const MANY = 30_000;
const TABLES = `
  create table plain (id integer primary key, word text, number, bytes blob);
  create table keyed (name text primary key, at integer, word text) without rowid;`;

test('a table of either kind reads as SQLite reads it, with values of every type', () => {
  const { path, database } = newDatabase();
  const numbers = [null, 0, 1, -1, 200, -40_000, 8_000_000, 2 ** 31, -(2 ** 45), 2 ** 52, 0.5];
  for (const [index, number] of numbers.entries()) {
    const bytes = Uint8Array.from({ length: index * 7 }, (_, at) => at);
    database
      .prepare('insert into plain (word, number, bytes) values (?, ?, ?)')
      .run(`ä${'x'.repeat(index * 30)}`, number, bytes);
  }
  // A column that is the rowid is stored as null.
  const rows = valuesOf(
    database,
    'select null as id, word, number, bytes from plain order by rowid',
  );
  expect(readSqliteTable(path, 'plain')).toEqual(rows);
  expect(readSqliteTable(path, 'keyed')).toEqual([]);
  expect(readSqliteTable(path, 'other')).toEqual([]);
});

test.each(['wal', 'delete'])('a large table after many changes (journal: %s)', (journal) => {
  const { path, database } = newDatabase(journal);
  fill(database, MANY);
  database.exec(`delete from keyed where at % 3 = 0; update keyed set word = word || '!' where at % 7 = 0;
                 delete from plain where id % 5 = 0`);
  expect(readSqliteTable(path, 'keyed')).toEqual(valuesOf(database, 'select * from keyed'));
  expect(readSqliteTable(path, 'plain')).toHaveLength(MANY - MANY / 5);
});

test('what is not committed is not read, wherever the log was cut off', () => {
  const { path, database } = newDatabase();
  database.exec('pragma wal_autocheckpoint = 0');
  const ends = [logBytes(path)];
  for (let round = 0; round < 5; round++) {
    fill(database, 40, round * 40);
    ends.push(logBytes(path));
  }
  const copy = copyOf(path);
  const whole = readFileSync(`${copy}-wal`);
  for (let cut = whole.length; cut > (ends[0] ?? 0); cut -= 997) {
    truncateSync(`${copy}-wal`, cut);
    const rounds = ends.filter((end) => end <= cut).length - 1;
    expect(readSqliteTable(copy, 'keyed')).toHaveLength(rounds * 40);
  }
});

test('a log that begins anew over an older one counts only as far as it is new', () => {
  const { path, database } = newDatabase();
  fill(database, 2_000);
  database.exec('pragma wal_checkpoint(restart)');
  fill(database, 10, 2_000);
  expect(readSqliteTable(path, 'keyed')).toEqual(valuesOf(database, 'select * from keyed'));
});

test('a log with a wrong bit counts up to there', () => {
  const { path, database } = newDatabase();
  database.exec('pragma wal_autocheckpoint = 0');
  fill(database, 10);
  const good = logBytes(path);
  fill(database, 10, 10);
  const copy = copyOf(path);
  const log = readFileSync(`${copy}-wal`);
  log[good + 100] = (log[good + 100] ?? 0) ^ 1;
  writeFileSync(`${copy}-wal`, log);
  expect(readSqliteTable(copy, 'keyed')).toHaveLength(10);
});

test('a damaged file is an error, and no endless search', () => {
  const { path, database } = newDatabase('delete');
  fill(database, 300);
  const copy = copyOf(path);
  const content = readFileSync(copy);
  for (let at = 100; at < content.length; at += 131) {
    const damaged = Buffer.from(content);
    damaged.fill(at % 256, at, Math.min(at + 40, content.length));
    writeFileSync(copy, damaged);
    try {
      readSqliteTable(copy, 'keyed');
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
  }
  writeFileSync(copy, 'no database');
  appendFileSync(copy, Buffer.alloc(5_000, 'x'));
  expect(() => readSqliteTable(copy, 'keyed')).toThrow(RangeError);
});

test('a row that goes on in other pages is refused', () => {
  const { path, database } = newDatabase();
  database.prepare("insert into keyed values ('long', 0, ?)").run('x'.repeat(5_000));
  expect(() => readSqliteTable(path, 'keyed')).toThrow('pages of its own');
});

function newDatabase(journal = 'wal') {
  const path = join(temporaryFolder(), 'test.sqlite');
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  database.exec(`pragma journal_mode = ${journal}; ${TABLES}`);
  return { path, database };
}

function fill(database: DatabaseSync, count: number, from = 0): void {
  const keyed = database.prepare('insert into keyed values (?, ?, ?)');
  const plain = database.prepare('insert into plain (word) values (?)');
  database.exec('begin');
  for (let at = from; at < from + count; at++) {
    keyed.run(`name-${(at * 7919) % 100_003}`, at, 'word'.repeat(at % 40));
    plain.run('word'.repeat(at % 60));
  }
  database.exec('commit');
}

function valuesOf(database: DatabaseSync, query: string): unknown[][] {
  return database
    .prepare(query)
    .all()
    .map((row) =>
      Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)),
    );
}

function logBytes(path: string): number {
  return readFileSync(`${path}-wal`).length;
}

/** The database as a killed process leaves it: SQLite itself would tidy up the log. */
function copyOf(path: string): string {
  const copy = join(temporaryFolder(), 'copy.sqlite');
  copyFileSync(path, copy);
  try {
    copyFileSync(`${path}-wal`, `${copy}-wal`);
  } catch {
    // A database without a log.
  }
  return copy;
}
