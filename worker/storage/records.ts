/** The table of records, which an account and the directory each have, and its statements. */
import { RecordAction } from '../../shared/api/records.ts';

/** A record is written in the step that does what it is about. */
export const RECORD_TABLE = `
  create table records (
    number integer primary key, at integer not null, session text, action text not null, subject text not null
  );`;

/** The limits of one table of records. */
export const RECORD_KEEPING = {
  /** The newest are kept: years of a person. An object reads a page of them, never all. */
  kept: 10_000,
} as const;

/** What is known of an act when it is done. */
export interface Act {
  readonly action: RecordAction;
  readonly subject: string;
  /** The session that does it; undefined where none does. */
  readonly session?: string | undefined;
}

/** An act in its table. Higher numbers are newer. */
export interface StoredRecord extends Act {
  readonly number: number;
  readonly atMs: number;
}

/** A page of records, the newest first. */
export interface RecordsPage {
  readonly limit: number;
  /** The number of the last record on the page before; null for the first page. */
  readonly before: number | null;
}

/** Adds a record, and deletes the one that is too old by then. */
export function addRecord(sql: SqlStorage, { session, action, subject }: Act, nowMs: number): void {
  const { number } = sql
    .exec<{ number: number }>(
      'insert into records (at, session, action, subject) values (?, ?, ?, ?) returning number',
      nowMs,
      session ?? null,
      action,
      subject,
    )
    .one();
  sql.exec('delete from records where number <= ?', number - RECORD_KEEPING.kept);
}

/** The newest records before the page's start. */
export function readRecords(sql: SqlStorage, { limit, before }: RecordsPage): StoredRecord[] {
  const rows = sql.exec<RecordRow>(
    'select * from records where number < ? order by number desc limit ?',
    before ?? Number.MAX_SAFE_INTEGER,
    limit,
  );
  return rows.toArray().map(({ at, session, action, ...row }) => {
    return { ...row, atMs: at, session: session ?? undefined, action: RecordAction.parse(action) };
  });
}

interface RecordRow extends Record<string, SqlStorageValue> {
  number: number;
  at: number;
  session: string | null;
  action: string;
  subject: string;
}
