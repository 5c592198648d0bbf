/** The tables of the directory, and the statements of keys. */
import { KeyTerms } from '../../shared/api/keys.ts';
import { APP_LIMITS } from '../apps/limits.ts';
import type { PushKeys, StoredKey } from '../ports/directory.ts';
import { RECORD_TABLE } from '../storage/records.ts';
import { Tables } from '../storage/tables.ts';
import { ENTRY_TABLES } from './entry-statements.ts';
import { PASSKEY_TABLE } from './passkey-statements.ts';

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

/** Named, synchronous statements. Reading stores nothing. Those of ways in and passkeys are functions beside it. */
export class DirectoryStore extends Tables {
  constructor(sql: SqlStorage) {
    super(sql, MIGRATIONS);
  }

  readKeys(): StoredKey[] {
    const { stored } = this;
    if (!stored) return [];
    const rows = stored.exec<KeyRow>('select id, salt, created, terms from keys order by id');
    return rows.toArray().map(({ id, salt, created, terms }) => ({
      id,
      salt,
      createdMs: created,
      terms: KeyTerms.parse(JSON.parse(terms)),
    }));
  }

  /** Replaces a key with this id. */
  saveKey({ id, salt, createdMs, terms }: StoredKey): void {
    this.written.exec(
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
    const { stored } = this;
    if (!stored) return false;
    return stored.exec('delete from keys where id = ?', id).rowsWritten > 0;
  }

  /** Also deletes the days that are no longer read. */
  addSpent(key: string, day: string, tokens: number): void {
    const { written } = this;
    written.exec(`delete from spent where day < date(?, '-${APP_LIMITS.keptDays} days')`, day);
    written.exec(
      `insert into spent (key, day, tokens) values (?, ?, ?)
       on conflict (key, day) do update set tokens = tokens + excluded.tokens`,
      key,
      day,
      tokens,
    );
  }

  readSpent(key: string, day: string): number {
    const { stored } = this;
    if (!stored) return 0;
    const rows = stored.exec<{ tokens: number }>(
      'select tokens from spent where key = ? and day = ?',
      key,
      day,
    );
    return rows.toArray()[0]?.tokens ?? 0;
  }

  readPushKeys(): PushKeys | undefined {
    const { stored } = this;
    if (!stored) return undefined;
    const rows = stored.exec<{ publicKey: string; privateKey: string }>(
      'select public_key as publicKey, private_key as privateKey from push_keys',
    );
    return rows.toArray()[0];
  }

  /** Once: another key would end every subscription. Returns it. */
  savePushKeys(keys: PushKeys): PushKeys {
    const { publicKey, privateKey } = keys;
    this.written.exec(
      'insert into push_keys (id, public_key, private_key) values (1, ?, ?)',
      publicKey,
      privateKey,
    );
    return keys;
  }
}

interface KeyRow extends Record<string, SqlStorageValue> {
  id: string;
  salt: string;
  created: number;
  terms: string;
}
