/** The tables of the ways in, and all their statements: invitations, and logins that wait for a person. */
import {
  type LoginDecision,
  loginCodeFrom,
  SessionKey,
  SessionKind,
} from '../../shared/api/sessions.ts';
import { newSessionId } from '../../shared/ids.ts';
import type { Outcome } from '../outcome.ts';
import { invitationIdOf } from '../people/entry-secrets.ts';
import { siteOf } from '../people/network.ts';
import type {
  Admitted,
  Decider,
  NewInvitation,
  NewLogin,
  WaitingInvitation,
  WaitingLogin,
} from '../ports/directory.ts';
import { firstRow, insertRow } from '../storage/statements.ts';
import { ENTRY_LIMITS } from './limits.ts';

/**
 * An entry is found by the hash of its secret (SHA-256). An invitation has its account from the beginning and gets the
 * key of whoever uses it. A login has its key, and gets the account of whoever approves it. `admitted_by` is the session
 * of the person who made the invitation or approved the login, if their token has one. `entered` has the accounts that
 * ever had a session.
 */
export const ENTRY_TABLES = `
  create table entries (
    secret text primary key, account text, key text, session text, code text, name text, kind text, address text,
    admitted_by text, is_refused integer not null default 0, made integer not null, expires integer not null
  ) without rowid;
  create table entered (account text primary key) without rowid;`;

interface EntryRow extends Record<string, SqlStorageValue> {
  account: string | null;
  key: string | null;
  session: string | null;
  admitted_by: string | null;
  is_refused: number;
}

interface InvitationRow extends Record<string, SqlStorageValue> {
  secret: string;
  account: string;
  admitted_by: string | null;
  made: number;
  expires: number;
}

interface LoginRow extends Record<string, SqlStorageValue> {
  secret: string;
  name: string;
  kind: string;
  key: string;
  address: string | null;
  made: number;
}

/** Adds an invitation. False if too many of the account wait. */
export function addInvitation(
  sql: SqlStorage,
  { secret, account, by, expiresMs }: NewInvitation,
  nowMs: number,
): boolean {
  forgetExpired(sql, nowMs);
  const count = countWhere(sql, 'account = ? and code is null', account);
  if (count >= ENTRY_LIMITS.maxInvitations) return false;
  const entry = { secret, account, admitted_by: by ?? null, made: nowMs, expires: expiresMs };
  insertRow(sql, 'entries', entry);
  return true;
}

/** The unused invitations of the account, or for null of all accounts, the oldest first. */
export function readInvitations(
  sql: SqlStorage,
  account: string | null,
  nowMs: number,
): WaitingInvitation[] {
  const rows = sql.exec<InvitationRow>(
    `select secret, account, admitted_by, made, expires from entries
     where code is null and session is null and expires > ?1 and (?2 is null or account = ?2)
     order by made, secret`,
    nowMs,
    account,
  );
  return rows.toArray().map(({ secret, account, admitted_by: by, made, expires }) => {
    return { secret, account, by: by ?? undefined, madeMs: made, expiresMs: expires };
  });
}

/** Deletes an unused invitation, of any account for null. Returns the account that it led into, if there is one. */
export function deleteInvitation(
  sql: SqlStorage,
  id: string,
  account: string | null,
): string | undefined {
  const waiting = readInvitations(sql, account, 0);
  const found = waiting.find(({ secret }) => invitationIdOf(secret) === id);
  if (found) sql.exec('delete from entries where secret = ?', found.secret);
  return found?.account;
}

/**
 * Adds a login and returns its code. Where too many wait, the oldest one goes of the site with the most, so that few
 * sites cannot keep all others out. Undefined if none can go.
 */
export function addLogin(sql: SqlStorage, login: NewLogin, nowMs: number): string | undefined {
  const { key, address = null, expiresMs: expires, ...named } = login;
  forgetExpired(sql, nowMs);
  const isFull = countWhere(sql, 'code is not null') >= ENTRY_LIMITS.maxLogins;
  if (isFull && !forgetCrowding(sql)) return undefined;
  const code = freeCode(sql);
  const row = { ...named, code, key: JSON.stringify(key), address, made: nowMs, expires };
  insertRow(sql, 'entries', row);
  return code;
}

/** Only of logins on which no person has decided. False without one. */
function forgetCrowding(sql: SqlStorage): boolean {
  const query = `select secret, address from entries
    where code is not null and account is null and is_refused = 0 order by made, secret`;
  const waiting = sql.exec<{ secret: string; address: string | null }>(query).toArray();
  const crowds = Map.groupBy(waiting, ({ address }) => siteOf(address ?? undefined));
  const [largest] = [...crowds.values()].sort((one, other) => other.length - one.length);
  if (!largest?.[0]) return false;
  sql.exec('delete from entries where secret = ?', largest[0].secret);
  return true;
}

/** A code that no login has. */
function freeCode(sql: SqlStorage): string {
  for (;;) {
    const code = loginCodeFrom(crypto.getRandomValues(new Uint8Array(CODE_BYTES)));
    if (code !== undefined && countWhere(sql, 'code = ?', code) === 0) return code;
  }
}

/** Twice the letters of a code: hardly ever too few of them are even. */
const CODE_BYTES = 16;

/** The login with this code, until a person has decided. */
export function readLogin(sql: SqlStorage, code: string, nowMs: number): WaitingLogin | undefined {
  const row = firstRow<LoginRow>(
    sql,
    `select secret, name, kind, key, address, made from entries
     where code = ? and expires > ? and account is null and is_refused = 0`,
    code,
    nowMs,
  );
  return (
    row && {
      secret: row.secret,
      name: row.name,
      kind: SessionKind.parse(row.kind),
      key: SessionKey.parse(JSON.parse(row.key)),
      ...(row.address !== null && { address: row.address }),
      madeMs: row.made,
    }
  );
}

/** A person's decision on a login that waits. */
export function decide(
  sql: SqlStorage,
  { secret }: WaitingLogin,
  decision: LoginDecision['decision'],
  { account, session }: Decider,
): void {
  if (decision === 'approve') {
    sql.exec(
      'update entries set account = ?, admitted_by = ? where secret = ?',
      account,
      session ?? null,
      secret,
    );
  } else sql.exec('update entries set is_refused = 1 where secret = ?', secret);
}

/** Approves the login with this secret. False if no such login waits; one that is approved for the account does. */
export function approveLogin(
  sql: SqlStorage,
  secret: string,
  account: string,
  nowMs: number,
): boolean {
  const approved = sql.exec(
    `update entries set account = ?2
     where secret = ?1 and code is not null and expires > ?3 and is_refused = 0 and session is null
       and (account is null or account = ?2) returning secret`,
    secret,
    account,
    nowMs,
  );
  return approved.toArray().length > 0;
}

/** Uses an entry up for a key. The same key gets the same answer again. */
export function enter(
  sql: SqlStorage,
  secret: string,
  key: SessionKey,
  nowMs: number,
): Outcome<Admitted> {
  const query = 'select * from entries where secret = ? and expires > ?';
  const row = firstRow<EntryRow>(sql, query, secret, nowMs);
  const written = JSON.stringify(key);
  if (!row || (row.key !== null && row.key !== written)) {
    const message = 'This link was used, has expired, or never was: ask for a new one';
    return { ok: false, code: 'ENTRY_ENDED', message };
  }
  if (row.is_refused) {
    return { ok: false, code: 'LOGIN_REFUSED', message: 'The person has refused this login' };
  }
  if (row.account === null) {
    return { ok: false, code: 'LOGIN_PENDING', message: 'The person has not decided yet' };
  }
  const session = row.session ?? newSessionId(crypto.randomUUID());
  if (row.session === null) {
    sql.exec('update entries set key = ?, session = ? where secret = ?', written, session, secret);
    sql.exec('insert into entered (account) values (?) on conflict do nothing', row.account);
  }
  const by = row.admitted_by ?? undefined;
  return { ok: true, value: { account: row.account, session, by } };
}

/** Whether the account ever had a session. */
export function hasEntered(sql: SqlStorage, account: string): boolean {
  return sql.exec('select 1 from entered where account = ?', account).toArray().length > 0;
}

/** Deletes the invitations into an account, and its approved logins. Its sessions get no more tokens. */
export function forgetAccount(sql: SqlStorage, account: string): void {
  sql.exec('delete from entries where account = ?', account);
  sql.exec('delete from entered where account = ?', account);
}

function forgetExpired(sql: SqlStorage, nowMs: number): void {
  sql.exec('delete from entries where expires <= ?', nowMs);
}

function countWhere(sql: SqlStorage, condition: string, ...values: SqlStorageValue[]): number {
  const query = `select count(*) as count from entries where ${condition}`;
  return sql.exec<{ count: number }>(query, ...values).one().count;
}
