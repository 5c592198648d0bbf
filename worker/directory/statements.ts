/** The tables of the directory, and the statements of keys. */
import { KeyTerms } from '../../shared/api/keys.ts';
import { APP_LIMITS } from '../apps/limits.ts';
import type { PushKeys, StoredKey } from '../ports/directory.ts';
import { RECORD_TABLE } from '../storage/records.ts';
import { insertRow } from '../storage/statements.ts';
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
    const rows = this.read<KeyRow>('select * from keys order by id');
    return rows.map(({ created, terms, ...row }) => {
      return { ...row, createdMs: created, terms: KeyTerms.parse(JSON.parse(terms)) };
    });
  }

  /** Replaces a key with this id. */
  saveKey({ id, salt, createdMs, terms }: StoredKey): void {
    const row = { id, salt, created: createdMs, terms: JSON.stringify(terms) };
    const change = 'on conflict (id) do update set salt = excluded.salt, terms = excluded.terms';
    insertRow(this.written, 'keys', row, change);
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
    const add = 'on conflict (key, day) do update set tokens = tokens + excluded.tokens';
    insertRow(written, 'spent', { key, day, tokens }, add);
  }

  readSpent(key: string, day: string): number {
    const query = 'select tokens from spent where key = ? and day = ?';
    return this.read<{ tokens: number }>(query, key, day)[0]?.tokens ?? 0;
  }

  readPushKeys(): PushKeys | undefined {
    return this.read<{ publicKey: string; privateKey: string }>(
      'select public_key as publicKey, private_key as privateKey from push_keys',
    )[0];
  }

  /** Once: another key would end every subscription. Returns it. */
  savePushKeys(keys: PushKeys): PushKeys {
    const { publicKey, privateKey } = keys;
    const row = { id: 1, public_key: publicKey, private_key: privateKey };
    insertRow(this.written, 'push_keys', row);
    return keys;
  }
}

interface KeyRow extends Record<string, SqlStorageValue> {
  id: string;
  salt: string;
  created: number;
  terms: string;
}
