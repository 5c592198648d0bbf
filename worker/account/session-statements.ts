/** The table of an account's sessions, and all its statements. Functions of {@link AccountStore}'s database. */
import { SessionKey, SessionKind } from '../../shared/api/sessions.ts';
import { SESSION_LIMITS } from '../../shared/limits.ts';
import { DONE, type Outcome } from '../outcome.ts';
import type { AccountPort, NewStoredSession, StoredSession } from '../ports/account.ts';
import { firstRow, insertRow } from '../storage/statements.ts';
import { SESSION_KEEPING } from './limits.ts';

/**
 * An ended session stays for as long as its invitation could be used again: its row says that it may not come back.
 * `proofs` are those that count for nothing any more, with the time of each. `ending` has the sessions whose readers and
 * bridges are being cut off: `after` is the last conversation that is done, {@link BEGUN} when those in progress are.
 */
export const SESSION_TABLES = `
  create table sessions (
    id text primary key, name text not null, kind text not null, key text not null, made integer not null,
    seen integer not null, ended integer, proofs text not null
  ) without rowid;
  create table ending (session text primary key, after text not null) without rowid;`;

interface SessionRow extends Record<string, SqlStorageValue> {
  id: string;
  name: string;
  kind: string;
  key: string;
  made: number;
  seen: number;
}

const COLUMNS = 'id, name, kind, key, made, seen';

/** See {@link AccountPort.addSession}. Returns whether it is new: an ended one changes nothing either. */
export function addSession(
  sql: SqlStorage,
  { id, name, kind, key }: NewStoredSession,
  admittedBy: string | undefined,
  nowMs: number,
): Outcome<boolean> {
  sql.exec('delete from sessions where ended < ?', nowMs - SESSION_LIMITS.invitationMs);
  const known = sql.exec('select 1 from sessions where id = ?', id).toArray();
  if (known.length > 0) return { ok: true, value: false };
  if (admittedBy !== undefined && !readSession(sql, admittedBy)) {
    const message = 'The session that let you in has ended: ask for a new link';
    return { ok: false, code: 'ENTRY_ENDED', message };
  }
  const live = sql.exec<{ count: number }>(
    'select count(*) as count from sessions where ended is null',
  );
  if (live.one().count >= SESSION_KEEPING.maxSessions) {
    const message = 'This account has too many sessions: end some';
    return { ok: false, code: 'RATE_LIMITED', message };
  }
  const begun = { made: nowMs, seen: nowMs, proofs: '[]' };
  insertRow(sql, 'sessions', { id, name, kind, key: JSON.stringify(key), ...begun });
  return { ok: true, value: true };
}

/** The sessions that have not ended, the newest first. */
export function readSessions(sql: SqlStorage): StoredSession[] {
  const rows = sql.exec<SessionRow>(
    `select ${COLUMNS} from sessions where ended is null order by made desc, id`,
  );
  return rows.toArray().map(parseRow);
}

/** Undefined if it has ended, or never was. */
export function readSession(sql: SqlStorage, id: string): StoredSession | undefined {
  const query = `select ${COLUMNS} from sessions where id = ? and ended is null`;
  const row = firstRow<SessionRow>(sql, query, id);
  return row && parseRow(row);
}

/** Notes that a session is used; rarely, because each note is a row. */
export function noteUse(sql: SqlStorage, { id, seenMs }: StoredSession, nowMs: number): void {
  if (Math.abs(nowMs - seenMs) < SESSION_KEEPING.seenEveryMs) return;
  sql.exec('update sessions set seen = ? where id = ?', nowMs, id);
}

/** Notes that a proof was used. Fails with UNAUTHENTICATED if it was used before, and with RATE_LIMITED for too many. */
export function useProof(sql: SqlStorage, id: string, proof: string, nowMs: number): Outcome<void> {
  const rows = sql.exec<{ proofs: string }>('select proofs from sessions where id = ?', id);
  const used: readonly [string, number][] = JSON.parse(rows.one().proofs);
  if (used.some(([known]) => known === proof)) {
    const message = 'This proof was used already: make a new one for each token';
    return { ok: false, code: 'UNAUTHENTICATED', message };
  }
  const recent = used.filter(([, atMs]) => Math.abs(nowMs - atMs) < SESSION_KEEPING.proofKeptMs);
  if (recent.length >= SESSION_KEEPING.maxProofs) {
    const message = 'This session asked for too many tokens: try again in some minutes';
    return { ok: false, code: 'RATE_LIMITED', message };
  }
  const proofs = JSON.stringify([...recent, [proof, nowMs]]);
  sql.exec('update sessions set proofs = ?, seen = ? where id = ?', proofs, nowMs, id);
  return DONE;
}

/** Ends a session, and notes that its connections are to be cut. False if it has ended, or never was. */
export function endSession(sql: SqlStorage, id: string, nowMs: number): boolean {
  const end = 'update sessions set ended = ?, push = null where id = ? and ended is null';
  if (sql.exec(end, nowMs, id).rowsWritten === 0) return false;
  sql.exec("insert into ending (session, after) values (?, '') on conflict do nothing", id);
  return true;
}

/** Notes that the connections of all sessions are to be cut, and those of tokens without one; or no longer. */
export function endAll(sql: SqlStorage, isWanted: boolean): void {
  sql.exec('delete from ending where session = ?', EVERYONE);
  if (isWanted) sql.exec("insert into ending (session, after) values (?, '')", EVERYONE);
}

/** Stands for all connections, where a session is named. */
const EVERYONE = '';

/** A session whose connections are being cut, with the conversations that come next. */
export interface EndingSession {
  /** Null for all connections. */
  readonly session: string | null;
  readonly conversations: readonly string[];
  /** What `after` is when these are done; null when all are. */
  readonly after: string | null;
}

/** Lies before all ids of conversations. */
const BEGUN = '!';

/** Undefined if nothing is to be cut. The conversations in progress come first, and again with the others. */
export function nextEnding(sql: SqlStorage): EndingSession | undefined {
  const query = 'select session, after from ending limit 1';
  const row = firstRow<{ session: string; after: string }>(sql, query);
  if (!row) return undefined;
  const session = row.session === EVERYONE ? null : row.session;
  if (row.after === '') {
    const running = 'select id from conversations where running = 1 limit ?';
    const ids = sql.exec<{ id: string }>(running, SESSION_KEEPING.maxCutFirst).toArray();
    return { session, conversations: ids.map(({ id }) => id), after: BEGUN };
  }
  const conversations = conversationsAfter(sql, row.after);
  return { session, conversations, after: conversations.at(-1) ?? null };
}

/** Ids of conversations, in the order of the ids: those after this one, as many as are cut at a time. */
export function conversationsAfter(sql: SqlStorage, id: string): string[] {
  const rows = sql.exec<{ id: string }>(
    'select id from conversations where id > ? order by id limit ?',
    id,
    SESSION_KEEPING.cutAtOnce,
  );
  return rows.toArray().map((row) => row.id);
}

/** Notes that this part is done. */
export function noteCut(sql: SqlStorage, { session, after }: EndingSession): void {
  const named = session ?? EVERYONE;
  if (after === null) sql.exec('delete from ending where session = ?', named);
  else sql.exec('update ending set after = ? where session = ?', after, named);
}

function parseRow({ id, name, kind, key, made, seen }: SessionRow): StoredSession {
  return {
    id,
    name,
    kind: SessionKind.parse(kind),
    key: SessionKey.parse(JSON.parse(key)),
    madeMs: made,
    seenMs: seen,
  };
}
