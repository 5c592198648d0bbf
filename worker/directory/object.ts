/** The Durable Object that the whole server has one of: the keys of its apps, what each app has spent, and the ways in for people. */
import { DurableObject } from 'cloudflare:workers';
import type { KeyTerms } from '../../shared/api/keys.ts';
import type { RecordAction } from '../../shared/api/records.ts';
import type { LoginDecision, SessionKey } from '../../shared/api/sessions.ts';
import { KEY_LIMITS } from '../../shared/limits.ts';
import type { Env } from '../env.ts';
import { DONE, type Outcome } from '../outcome.ts';
import type {
  Admitted,
  Decider,
  DirectoryPort,
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
import { newPushKeys } from '../push/keys.ts';
import {
  type Act,
  addRecord,
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
  enter,
  forgetAccount,
  hasEntered,
  readInvitations,
  readLogin,
} from './entry-statements.ts';
import { ENTRY_LIMITS } from './limits.ts';
import {
  addPasskey,
  forgetPasskeys,
  noteUsed,
  readPasskey,
  readPasskeys,
  removePasskey,
} from './passkey-statements.ts';
import { DirectoryStore } from './statements.ts';

export class Directory extends DurableObject<Env> implements DirectoryPort {
  readonly #store: DirectoryStore;
  /** When each account has named a code that no login has. In memory: a guess needs far more than one life has. */
  readonly #guesses = new Map<string, readonly number[]>();

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#store = new DirectoryStore(state.storage.sql);
  }

  keys(): StoredKey[] {
    return this.#store.readKeys();
  }

  makeKey(id: string, terms: KeyTerms): Outcome<StoredKey> {
    const keys = this.#store.readKeys();
    if (keys.some((key) => key.id === id)) {
      return { ok: false, code: 'KEY_EXISTS', message: `id: there is a key named ${id} already` };
    }
    if (keys.length >= KEY_LIMITS.maxKeys) {
      const message = `There are ${KEY_LIMITS.maxKeys} keys already: delete one first`;
      return { ok: false, code: 'INVALID_REQUEST', message };
    }
    const key = { id, salt: newSalt(), createdMs: Date.now(), terms };
    return { ok: true, value: this.#save(key, 'key_created') };
  }

  changeKey(id: string, terms: KeyTerms): Outcome<StoredKey> {
    return this.#change(id, 'key_changed', (key) => ({ ...key, terms }));
  }

  renewSecret(id: string): Outcome<StoredKey> {
    return this.#change(id, 'key_renewed', (key) => ({ ...key, salt: newSalt() }));
  }

  deleteKey(id: string): void {
    if (this.#store.deleteKey(id)) this.record({ action: 'key_deleted', subject: id });
  }

  spend(id: string, day: string, tokens: number): void {
    this.#store.addSpent(id, day, tokens);
  }

  spent(id: string, day: string): number {
    return this.#store.readSpent(id, day);
  }

  invite(invitation: NewInvitation): Outcome<void> {
    const isAdded = addInvitation(this.#store.written, invitation, Date.now());
    return isAdded ? DONE : tooMany('invitations');
  }

  invitations(account: string | null): WaitingInvitation[] {
    const { stored } = this.#store;
    return stored ? readInvitations(stored, account, Date.now()) : [];
  }

  revokeInvitation(id: string, account: string | null): string | undefined {
    const { stored } = this.#store;
    return stored ? deleteInvitation(stored, id, account) : undefined;
  }

  beginLogin(login: NewLogin): Outcome<string> {
    const value = addLogin(this.#store.written, login, Date.now());
    return value === undefined ? tooMany('logins') : { ok: true, value };
  }

  login(account: string, code: string): Outcome<WaitingLogin> {
    const nowMs = Date.now();
    const guesses = (this.#guesses.get(account) ?? []).filter(
      (at) => nowMs - at < ENTRY_LIMITS.guessesMs,
    );
    if (guesses.length >= ENTRY_LIMITS.maxGuesses) return tooMany('codes');
    const { stored } = this.#store;
    const value = stored && readLogin(stored, code, nowMs);
    if (value) return { ok: true, value };
    this.#guesses.set(account, [...guesses, nowMs]);
    return {
      ok: false,
      code: 'NOT_FOUND',
      message: 'No login with this code waits: it may have expired',
    };
  }

  decideLogin(
    decider: Decider,
    code: string,
    { decision, key }: LoginDecision,
  ): Outcome<WaitingLogin> {
    const found = this.login(decider.account, code);
    if (!found.ok) return found;
    if (JSON.stringify(found.value.key) !== JSON.stringify(key)) {
      return {
        ok: false,
        code: 'KEY_CHANGED',
        message: 'Another key waits under this code: look again',
      };
    }
    decide(this.#store.written, found.value, decision, decider);
    return found;
  }

  enter(secret: string, key: SessionKey): Outcome<Admitted> {
    return enter(this.#store.written, secret, key, Date.now());
  }

  addPasskey(passkey: NewStoredPasskey): Outcome<void> {
    return addPasskey(this.#store.written, passkey, Date.now());
  }

  passkeys(account: string): StoredPasskey[] {
    const { stored } = this.#store;
    return stored ? readPasskeys(stored, account) : [];
  }

  passkey(id: string): StoredPasskey | null {
    const { stored } = this.#store;
    return (stored && readPasskey(stored, id)) ?? null;
  }

  removePasskey(account: string, id: string): StoredPasskey | null {
    const { stored } = this.#store;
    return (stored && removePasskey(stored, account, id)) ?? null;
  }

  approveByPasskey(secret: string, passkey: PasskeyOwner): Outcome<void> {
    const { id, account } = passkey;
    if (this.passkey(id)?.account !== account) {
      return { ok: false, code: 'PASSKEY_REFUSED', message: 'This passkey was removed' };
    }
    const { written } = this.#store;
    const nowMs = Date.now();
    if (!approveLogin(written, secret, account, nowMs)) {
      return { ok: false, code: 'ENTRY_ENDED', message: 'No such login waits: begin again' };
    }
    noteUsed(written, id, nowMs);
    return DONE;
  }

  forgetAccount(account: string): void {
    const { stored } = this.#store;
    if (stored) {
      forgetAccount(stored, account);
      forgetPasskeys(stored, account);
    }
    this.record({ action: 'account_deleted', subject: account });
  }

  deletions(): { accounts: string[]; newest: number } {
    const rows = this.#store.read<{ subject: string; number: number }>(
      "select subject, max(number) as number from records where action = 'account_deleted' group by 1",
    );
    const newest = Math.max(0, ...rows.map(({ number }) => number));
    return { accounts: rows.map(({ subject }) => subject), newest };
  }

  record(act: Act): void {
    addRecord(this.#store.written, act, Date.now());
  }

  records(page: RecordsPage): StoredRecord[] {
    const { stored } = this.#store;
    return stored ? readRecords(stored, page) : [];
  }

  hasEntered(account: string): boolean {
    const { stored } = this.#store;
    return stored !== null && hasEntered(stored, account);
  }

  async pushKeys(): Promise<PushKeys> {
    const known = this.#store.readPushKeys();
    if (known) return known;
    const made = await newPushKeys();
    // Another call may have stored one meanwhile.
    return this.#store.readPushKeys() ?? this.#store.savePushKeys(made);
  }

  #change(
    id: string,
    action: RecordAction,
    change: (key: StoredKey) => StoredKey,
  ): Outcome<StoredKey> {
    const key = this.#store.readKeys().find((each) => each.id === id);
    if (key) return { ok: true, value: this.#save(change(key), action) };
    return { ok: false, code: 'NOT_FOUND', message: 'There is no such key' };
  }

  #save(key: StoredKey, action: RecordAction): StoredKey {
    this.#store.saveKey(key);
    this.record({ action, subject: key.id });
    return key;
  }
}

function tooMany(what: string): Outcome<never> {
  return {
    ok: false,
    code: 'RATE_LIMITED',
    message: `Too many ${what}: try again in some minutes`,
  };
}

function newSalt(): string {
  return crypto.randomUUID();
}
