/** The table of the passkeys that sign people in, and all its statements. */
import { SessionKey } from '../../shared/api/sessions.ts';
import { PASSKEY_LIMITS } from '../../shared/limits.ts';
import { DONE, type Outcome } from '../outcome.ts';
import type { NewStoredPasskey, StoredPasskey } from '../ports/directory.ts';
import { firstRow, insertRow } from '../storage/statements.ts';

export const PASSKEY_TABLE = `
  create table passkeys (
    id text primary key, account text not null, name text not null, key text not null, origin text not null,
    made integer not null, used integer
  ) without rowid;
  create index passkeys_of_account on passkeys (account, made);`;

interface PasskeyRow extends Record<string, SqlStorageValue> {
  id: string;
  account: string;
  name: string;
  key: string;
  origin: string;
  made: number;
  used: number | null;
}

/** Adding the same again changes nothing. */
export function addPasskey(
  sql: SqlStorage,
  { id, account, name, key, origin }: NewStoredPasskey,
  nowMs: number,
): Outcome<void> {
  const known = readPasskey(sql, id);
  if (known && (known.account !== account || JSON.stringify(known.key) !== JSON.stringify(key))) {
    return refusal('credentialId: there is another passkey with this id');
  }
  if (known) return DONE;
  if (readPasskeys(sql, account).length >= PASSKEY_LIMITS.maxPasskeys) {
    return refusal(`There are ${PASSKEY_LIMITS.maxPasskeys} passkeys already: remove one first`);
  }
  const row = { id, account, name, key: JSON.stringify(key), origin, made: nowMs };
  insertRow(sql, 'passkeys', row);
  return DONE;
}

/** The oldest first. */
export function readPasskeys(sql: SqlStorage, account: string): StoredPasskey[] {
  const rows = sql.exec<PasskeyRow>(
    'select * from passkeys where account = ? order by made, id',
    account,
  );
  return rows.toArray().map(parseRow);
}

export function readPasskey(sql: SqlStorage, id: string): StoredPasskey | undefined {
  const row = firstRow<PasskeyRow>(sql, 'select * from passkeys where id = ?', id);
  return row && parseRow(row);
}

export function noteUsed(sql: SqlStorage, id: string, nowMs: number): void {
  sql.exec('update passkeys set used = ? where id = ?', nowMs, id);
}

/** The one that was removed; undefined if the account has none with this id. */
export function removePasskey(
  sql: SqlStorage,
  account: string,
  id: string,
): StoredPasskey | undefined {
  const remove = 'delete from passkeys where id = ? and account = ? returning *';
  const row = firstRow<PasskeyRow>(sql, remove, id, account);
  return row && parseRow(row);
}

export function forgetPasskeys(sql: SqlStorage, account: string): void {
  sql.exec('delete from passkeys where account = ?', account);
}

function parseRow({ key, made, used, ...row }: PasskeyRow): StoredPasskey {
  const whole = { ...row, key: SessionKey.parse(JSON.parse(key)), madeMs: made };
  return used === null ? whole : { ...whole, usedMs: used };
}

function refusal(message: string): Outcome<never> {
  return { ok: false, code: 'INVALID_REQUEST', message };
}
