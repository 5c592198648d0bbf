/** The Durable Object that the whole server has one of: the keys of its apps, and what each app has spent. */
import { DurableObject } from 'cloudflare:workers';
import type { KeyTerms } from '../../shared/api/keys.ts';
import { KEY_LIMITS } from '../../shared/limits.ts';
import type { Env } from '../env.ts';
import type { Outcome } from '../outcome.ts';
import type { DirectoryPort, StoredKey } from '../ports.ts';
import { DirectoryStore } from './statements.ts';

export class Directory extends DurableObject<Env> implements DirectoryPort {
  readonly #store: DirectoryStore;

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
    return { ok: true, value: this.#save({ id, salt: newSalt(), createdMs: Date.now(), terms }) };
  }

  changeKey(id: string, terms: KeyTerms): Outcome<StoredKey> {
    return this.#change(id, (key) => ({ ...key, terms }));
  }

  renewSecret(id: string): Outcome<StoredKey> {
    return this.#change(id, (key) => ({ ...key, salt: newSalt() }));
  }

  deleteKey(id: string): void {
    this.#store.deleteKey(id);
  }

  spend(id: string, day: string, tokens: number): void {
    this.#store.addSpent(id, day, tokens);
  }

  spent(id: string, day: string): number {
    return this.#store.readSpent(id, day);
  }

  #change(id: string, change: (key: StoredKey) => StoredKey): Outcome<StoredKey> {
    const key = this.#store.readKeys().find((each) => each.id === id);
    if (key) return { ok: true, value: this.#save(change(key)) };
    return { ok: false, code: 'NOT_FOUND', message: 'There is no such key' };
  }

  #save(key: StoredKey): StoredKey {
    this.#store.saveKey(key);
    return key;
  }
}

function newSalt(): string {
  return crypto.randomUUID();
}
