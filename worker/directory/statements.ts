/** The tables of the directory and all their statements. */
import { KeyTerms } from '../../shared/api/keys.ts';
import type { LoginDecision, SessionKey } from '../../shared/api/sessions.ts';
import { APP_LIMITS } from '../apps/limits.ts';
import type { Outcome } from '../outcome.ts';
import type {
  Admitted,
  Decider,
  NewInvitation,
  NewLogin,
  NewStoredPasskey,
  PasskeyOwner,
  PushKeys,
  StoredKey,
  StoredPasskey,
  WaitingInvitation,
  WaitingLogin,
} from '../ports/directory.ts';
import { migrate, openStored } from '../storage/migrations.ts';
import {
  type Act,
  addRecord,
  RECORD_TABLE,
  type RecordsPage,
  readRecords,
  type StoredRecord,
} from '../storage/records.ts';
import {
  addInvitation,
  addLogin,
  approveLogin,
  decide,
  deleteInvitation,
  ENTRY_TABLES,
  enter,
  forgetAccount,
  hasEntered,
  readInvitations,
  readLogin,
} from './entry-statements.ts';
import {
  addPasskey,
  forgetPasskeys,
  noteUsed,
  PASSKEY_TABLE,
  readPasskey,
  readPasskeys,
  removePasskey,
} from './passkey-statements.ts';

/** As in worker/storage/migrations.ts. */
export const MIGRATIONS = [
  `create table keys (
     id text primary key, salt text not null, created integer not null, terms text not null
   ) without rowid;
   create table spent (
     key text not null, day text not null, tokens integer not null, primary key (key, day)
   ) without rowid;`,
  ENTRY_TABLES,
  RECORD_TABLE,
  `create table push_keys (
     id integer primary key check (id = 1), public_key text not null, private_key text not null
   );`,
  PASSKEY_TABLE,
] as const;

/** Named, synchronous statements. Reading stores nothing. */
export class DirectoryStore {
  readonly #sql: SqlStorage;
  #isStored: boolean;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#isStored = openStored(sql, MIGRATIONS);
  }

  readKeys(): StoredKey[] {
    if (!this.#isStored) return [];
    const rows = this.#sql.exec<KeyRow>('select id, salt, created, terms from keys order by id');
    return rows.toArray().map(({ id, salt, created, terms }) => ({
      id,
      salt,
      createdMs: created,
      terms: KeyTerms.parse(JSON.parse(terms)),
    }));
  }

  /** Replaces a key with this id. */
  saveKey({ id, salt, createdMs, terms }: StoredKey): void {
    this.#prepare();
    this.#sql.exec(
      `insert into keys (id, salt, created, terms) values (?, ?, ?, ?)
       on conflict (id) do update set salt = excluded.salt, terms = excluded.terms`,
      id,
      salt,
      createdMs,
      JSON.stringify(terms),
    );
  }

  /** Returns whether there was one. */
  deleteKey(id: string): boolean {
    if (!this.#isStored) return false;
    return this.#sql.exec('delete from keys where id = ?', id).rowsWritten > 0;
  }

  record(act: Act, nowMs: number): void {
    this.#prepare();
    addRecord(this.#sql, act, nowMs);
  }

  readRecords(page: RecordsPage): StoredRecord[] {
    return this.#isStored ? readRecords(this.#sql, page) : [];
  }

  /** Also deletes the days that are no longer read. */
  addSpent(key: string, day: string, tokens: number): void {
    this.#prepare();
    this.#sql.exec(`delete from spent where day < date(?, '-${APP_LIMITS.keptDays} days')`, day);
    this.#sql.exec(
      `insert into spent (key, day, tokens) values (?, ?, ?)
       on conflict (key, day) do update set tokens = tokens + excluded.tokens`,
      key,
      day,
      tokens,
    );
  }

  readSpent(key: string, day: string): number {
    if (!this.#isStored) return 0;
    const rows = this.#sql.exec<{ tokens: number }>(
      'select tokens from spent where key = ? and day = ?',
      key,
      day,
    );
    return rows.toArray()[0]?.tokens ?? 0;
  }

  /** See entry-statements.ts for what follows. */
  addInvitation(invitation: NewInvitation, nowMs: number): boolean {
    this.#prepare();
    return addInvitation(this.#sql, invitation, nowMs);
  }

  readInvitations(account: string | null, nowMs: number): WaitingInvitation[] {
    return this.#isStored ? readInvitations(this.#sql, account, nowMs) : [];
  }

  deleteInvitation(id: string, account: string | null): string | undefined {
    return this.#isStored ? deleteInvitation(this.#sql, id, account) : undefined;
  }

  addLogin(login: NewLogin, nowMs: number): string | undefined {
    this.#prepare();
    return addLogin(this.#sql, login, nowMs);
  }

  readLogin(code: string, nowMs: number): WaitingLogin | undefined {
    return this.#isStored ? readLogin(this.#sql, code, nowMs) : undefined;
  }

  decide(login: WaitingLogin, decision: LoginDecision['decision'], decider: Decider): void {
    decide(this.#sql, login, decision, decider);
  }

  enter(secret: string, key: SessionKey, nowMs: number): Outcome<Admitted> {
    this.#prepare();
    return enter(this.#sql, secret, key, nowMs);
  }

  forgetAccount(account: string): void {
    if (!this.#isStored) return;
    forgetAccount(this.#sql, account);
    forgetPasskeys(this.#sql, account);
  }

  hasEntered(account: string): boolean {
    return this.#isStored && hasEntered(this.#sql, account);
  }

  /** See passkey-statements.ts for what follows. */
  addPasskey(passkey: NewStoredPasskey, nowMs: number): Outcome<void> {
    this.#prepare();
    return addPasskey(this.#sql, passkey, nowMs);
  }

  readPasskeys(account: string): StoredPasskey[] {
    return this.#isStored ? readPasskeys(this.#sql, account) : [];
  }

  readPasskey(id: string): StoredPasskey | undefined {
    return this.#isStored ? readPasskey(this.#sql, id) : undefined;
  }

  removePasskey(account: string, id: string): StoredPasskey | undefined {
    return this.#isStored ? removePasskey(this.#sql, account, id) : undefined;
  }

  /** Whether the login waited. */
  approveByPasskey(secret: string, { id, account }: PasskeyOwner, nowMs: number): boolean {
    const isApproved = approveLogin(this.#sql, secret, account, nowMs);
    if (isApproved) noteUsed(this.#sql, id, nowMs);
    return isApproved;
  }

  readPushKeys(): PushKeys | undefined {
    if (!this.#isStored) return undefined;
    const rows = this.#sql.exec<{ publicKey: string; privateKey: string }>(
      'select public_key as publicKey, private_key as privateKey from push_keys',
    );
    return rows.toArray()[0];
  }

  /** Once: another key would end every subscription. Returns it. */
  savePushKeys(keys: PushKeys): PushKeys {
    this.#prepare();
    const { publicKey, privateKey } = keys;
    this.#sql.exec(
      'insert into push_keys (id, public_key, private_key) values (1, ?, ?)',
      publicKey,
      privateKey,
    );
    return keys;
  }

  #prepare(): void {
    if (this.#isStored) return;
    migrate(this.#sql, MIGRATIONS);
    this.#isStored = true;
  }
}

interface KeyRow extends Record<string, SqlStorageValue> {
  id: string;
  salt: string;
  created: number;
  terms: string;
}
