/** The table of an account's standing, and its statements: whether it may go on, and what its deletion has done. */
import { type AccountStanding, AccountState } from '../../shared/api/accounts.ts';
import type { DoomedPart, Standing, WantedState } from '../ports/account.ts';
import { firstRow, insertRow } from '../storage/statements.ts';
import { SESSION_KEEPING } from './limits.ts';

/** Without a row the account is active. The counts are of what a deletion has deleted. */
export const STANDING_TABLE = `
  create table standing (
    id integer primary key check (id = 1), state text not null, since integer not null,
    conversations integer not null default 0, bridges integer not null default 0,
    sessions integer not null default 0, failed integer not null default 0
  );`;

interface StandingRow extends Record<string, SqlStorageValue> {
  state: string;
  since: number;
  conversations: number;
  bridges: number;
  sessions: number;
  failed: number;
}

/** The state that follows. The same one where nothing changes, and null where a deletion stands in the way. */
export function nextState(state: AccountState, wanted: WantedState): AccountState | null {
  if (wanted === 'deleted') return state === 'deleted' ? state : 'deleting';
  if (state === 'deleting') return null;
  return state === 'deleted' && wanted === 'suspended' ? null : wanted;
}

export function readState(sql: SqlStorage): AccountState {
  return AccountState.parse(readRow(sql)?.state ?? 'active');
}

export function readStanding(sql: SqlStorage): Standing {
  const { since, ...row } = readRow(sql) ?? ACTIVE;
  const { conversations, bridges, sessions, failed } = row;
  const state = AccountState.parse(row.state);
  const has = {
    conversations: countOf(sql, 'conversations'),
    bridges: countOf(sql, 'bridges'),
    sessions: countOf(sql, 'sessions where ended is null'),
  };
  return { state, sinceMs: since, has, deleted: { conversations, bridges, sessions, failed } };
}

const ACTIVE = {
  state: 'active',
  since: null,
  conversations: 0,
  bridges: 0,
  sessions: 0,
  failed: 0,
} as const;

function readRow(sql: SqlStorage): StandingRow | undefined {
  return firstRow<StandingRow>(sql, 'select * from standing');
}

function countOf(sql: SqlStorage, rows: string): number {
  return sql.exec<{ count: number }>(`select count(*) as count from ${rows}`).one().count;
}

/** An active account that was deleted before begins to count at nothing. */
export function saveState(sql: SqlStorage, state: AccountState, nowMs: number): void {
  if (state === 'active') sql.exec('delete from standing');
  const replace = 'on conflict (id) do update set state = excluded.state, since = excluded.since';
  insertRow(sql, 'standing', { id: 1, state, since: nowMs }, replace);
}

/** The row of a deleted account, all that is left of it. */
export function saveDeleted(
  sql: SqlStorage,
  deleted: AccountStanding['deleted'],
  nowMs: number,
): void {
  insertRow(sql, 'standing', { id: 1, state: 'deleted', since: nowMs, ...deleted });
}

/** The next parts. Also of conversations that are not listed, as far as their usage was counted of late. */
export function nextParts(sql: SqlStorage): DoomedPart[] {
  const rows = sql.exec<{ type: string; id: string }>(
    `select 'bridge' as type, id from bridges
     union all select 'conversation', id from conversations
     union all select 'conversation', id from unlisted where id not in (select id from conversations)
     limit ?`,
    SESSION_KEEPING.deletedAtOnce,
  );
  return rows.toArray().map(({ type, id }) => {
    return { type: type === 'bridge' ? 'bridge' : 'conversation', id };
  });
}

/** What can still be read of the lists of an account whose file is damaged. */
export function salvage(sql: SqlStorage): DoomedPart[] {
  const lists = [
    ['bridge', 'bridges'],
    ['conversation', 'conversations'],
    ['conversation', 'unlisted'],
  ] as const;
  const parts: DoomedPart[] = [];
  for (const [type, table] of lists) {
    try {
      for (const { id } of sql.exec(`select id from ${table}`))
        parts.push({ type, id: String(id) });
    } catch {
      // The rest of this list is lost.
    }
  }
  return parts;
}

/** Lists a part that is to be deleted, unless it is listed. */
export function listPart(sql: SqlStorage, { type, id }: DoomedPart, nowMs: number): void {
  const isBridge = type === 'bridge';
  const texts = { title: '', search_title: '', search: '' };
  const row = isBridge
    ? { id, connected_at: nowMs }
    : { id, archived: 0, created: nowMs, updated: nowMs, ...texts };
  insertRow(sql, `${type}s`, row, 'on conflict (id) do nothing');
}

/** Removes the part. Returns whether it was listed. */
export function forgetPart(sql: SqlStorage, { type, id }: DoomedPart): boolean {
  const [list, ...marks] =
    type === 'bridge'
      ? (['bridges'] as const)
      : (['conversations', 'unlisted', 'waiting'] as const);
  for (const table of marks) sql.exec(`delete from ${table} where id = ?`, id);
  return sql.exec(`delete from ${list} where id = ?`, id).rowsWritten > 0;
}

/** Adds one to what the deletion has done. */
export function countPart(sql: SqlStorage, as: 'conversations' | 'bridges' | 'failed'): void {
  sql.exec(`update standing set ${as} = ${as} + 1`);
}
