/** The tables of an account's usage, and all their statements. */
import { addEntries, UsageEntry, type UsageList } from '../../shared/api/usage.ts';
import type { Heard, SpentSince, UsageRange } from '../ports/account.ts';
import { firstRow, insertRow } from '../storage/statements.ts';
import { UNLISTED_LIMITS } from './limits.ts';

/**
 * `usage` has a row for each day and model. `unlisted` has the conversations that are not listed: what is counted of
 * them, and copies that are being made.
 */
export const USAGE_TABLES = `
  create table usage (day text not null, model text not null, body text not null, primary key (day, model)) without rowid;
  create table unlisted (id text primary key, counted integer not null, at integer not null) without rowid;
  alter table conversations add column counted integer;`;

export function readHeard(sql: SqlStorage, id: string): Heard {
  const row = firstRow<{ listed: number; counted: number | null }>(
    sql,
    `select 1 as listed, counted from conversations where id = ?1
     union all select 0, counted from unlisted where id = ?1 order by listed desc`,
    id,
  );
  return { isListed: row?.listed === 1, through: row ? row.counted : 0 };
}

/** Adds what a conversation has spent, once. Returns whether it counts. The caller stores `through` in that step. */
export function addSpent(sql: SqlStorage, id: string, { after, entries }: SpentSince): boolean {
  const { through } = readHeard(sql, id);
  if (through !== null && through !== after) return false;
  for (const entry of entries) addUsage(sql, entry);
  return true;
}

export function addUsage(sql: SqlStorage, entry: UsageEntry): void {
  const { day, model } = entry;
  const query = 'select body from usage where day = ? and model = ?';
  const row = firstRow<{ body: string }>(sql, query, day, model);
  const sum = row ? addEntries(UsageEntry.parse(JSON.parse(row.body)), entry) : entry;
  const replace = 'on conflict (day, model) do update set body = excluded.body';
  insertRow(sql, 'usage', { day, model, body: JSON.stringify(sum) }, replace);
}

/** Stores through which run a conversation is counted, for a report apart from an answer. */
export function saveCounted(sql: SqlStorage, id: string, through: number, nowMs: number): void {
  const list = 'update conversations set counted = ? where id = ?';
  if (sql.exec(list, through, id).rowsWritten > 0) return;
  const replace = 'on conflict (id) do update set counted = excluded.counted, at = excluded.at';
  insertUnlisted(sql, id, through, nowMs, replace);
}

/** Notes a conversation of which nothing is stored or listed yet. */
export function noteUnlisted(sql: SqlStorage, id: string, nowMs: number): void {
  insertUnlisted(sql, id, 0, nowMs, 'on conflict (id) do update set at = excluded.at');
}

function insertUnlisted(
  sql: SqlStorage,
  id: string,
  counted: number,
  at: number,
  otherwise: string,
): void {
  sql.exec('delete from unlisted where at < ?', at - UNLISTED_LIMITS.keptMs);
  insertRow(sql, 'unlisted', { id, counted, at }, otherwise);
}

/** A page of the range. The page after it begins behind its last entry. */
export function readUsage(
  sql: SqlStorage,
  { from, to, limit, after }: UsageRange,
): Pick<UsageList, 'items'> & { readonly hasMore: boolean } {
  const rows = sql
    .exec<{ body: string }>(
      `select body from usage where day between ?1 and ?2 and (day, model) > (?3, ?4)
       order by day, model limit ?5`,
      from,
      to,
      after?.day ?? '',
      after?.model ?? '',
      limit + 1,
    )
    .toArray();
  const items = rows.slice(0, limit).map(({ body }) => UsageEntry.parse(JSON.parse(body)));
  return { items, hasMore: rows.length > limit };
}

/** Tokens of a day, of all models. */
export function readSpent(sql: SqlStorage, day: string): number {
  const query =
    "select sum(json_extract(body, '$.totalTokens')) as tokens from usage where day = ?";
  return firstRow<{ tokens: number | null }>(sql, query, day)?.tokens ?? 0;
}
