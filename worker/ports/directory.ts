/** What the server's directory answers, and what it takes and gives. Its callers and it import this, and never each other. */
import type { KeyTerms } from '../../shared/api/keys.ts';
import type { LoginDecision, SessionKey, SessionKind } from '../../shared/api/sessions.ts';
import type { Outcome } from '../outcome.ts';
import type { Act, RecordsPage, StoredRecord } from '../storage/records.ts';

/** What the whole server has: the keys of its apps, and the ways in for people. One object has all of it. */
export interface DirectoryPort extends Rpc.DurableObjectBranded {
  /** All keys, in the order of their ids. */
  keys(): StoredKey[];

  /** Fails with KEY_EXISTS, and with INVALID_REQUEST where there are KEY_LIMITS.maxKeys. */
  makeKey(id: string, terms: KeyTerms): Outcome<StoredKey>;

  /** Fails with NOT_FOUND. */
  changeKey(id: string, terms: KeyTerms): Outcome<StoredKey>;

  /** Gives the key another secret, which ends the tokens of the old one. Fails with NOT_FOUND. */
  renewSecret(id: string): Outcome<StoredKey>;

  /** Changes nothing if there is no such key. */
  deleteKey(id: string): void;

  /** Adds tokens of models that a user of the key has used on a day of UTC. */
  spend(id: string, day: string, tokens: number): void;

  /** What all users of the key have used on a day of UTC. */
  spent(id: string, day: string): number;

  /** Fails with RATE_LIMITED if too many of the account wait. */
  invite(invitation: NewInvitation): Outcome<void>;

  /** The invitations of the account that no device has used, or for null of all accounts. The oldest comes first. */
  invitations(account: string | null): WaitingInvitation[];

  /** Revokes an unused invitation, of any account for null. Returns the account that it led into, if there is one. */
  revokeInvitation(id: string, account: string | null): string | undefined;

  /** Returns the code of the login. Fails with RATE_LIMITED if too many wait. */
  beginLogin(login: NewLogin): Outcome<string>;

  /** A login that waits. Fails with NOT_FOUND, and with RATE_LIMITED for an account that guesses. */
  login(account: string, code: string): Outcome<WaitingLogin>;

  /** A person's decision. Returns the login. Fails like {@link login}, and with KEY_CHANGED for another key. */
  decideLogin(decider: Decider, code: string, decision: LoginDecision): Outcome<WaitingLogin>;

  /** Uses an invitation or login up. Repeatable with one key. Fails with ENTRY_ENDED, LOGIN_PENDING, LOGIN_REFUSED. */
  enter(secret: string, key: SessionKey): Outcome<Admitted>;

  /** The accounts that were deleted, as far as records of it are kept, and the number of the newest one; 0 for none. */
  deletions(): { accounts: string[]; newest: number };

  /** Fails with INVALID_REQUEST for the id of another passkey, and where the account has too many. */
  addPasskey(passkey: NewStoredPasskey): Outcome<void>;

  /** The account's passkeys, the oldest first. */
  passkeys(account: string): StoredPasskey[];

  /** The one with this id; null without one. */
  passkey(id: string): StoredPasskey | null;

  /** The one that was removed; null if the account has none with this id. */
  removePasskey(account: string, id: string): StoredPasskey | null;

  /** Approves a login as a passkey's account; the caller has checked it. Fails with PASSKEY_REFUSED, ENTRY_ENDED. */
  approveByPasskey(secret: string, passkey: PasskeyOwner): Outcome<void>;

  /** Deletes the ways into a deleted account, and records its deletion. */
  forgetAccount(account: string): void;

  /** Records what an operator did elsewhere. */
  record(act: Act): void;

  /** What operators did, the newest first. Changes of keys are recorded in the step that makes them. */
  records(page: RecordsPage): StoredRecord[];

  /** Whether the account ever had a session. Strangers name accounts, and an object that wakes makes files. */
  hasEntered(account: string): boolean;

  /** The server's key for Web Push. The first call makes it. */
  pushKeys(): Promise<PushKeys>;
}

/** Which passkey, by its credential's id, and the account that it signs in to. */
export interface PasskeyOwner {
  readonly id: string;
  readonly account: string;
}

export interface NewStoredPasskey extends PasskeyOwner {
  readonly name: string;
  readonly key: SessionKey;
  /** Of the page that made it. */
  readonly origin: string;
}

/** With the times at which it was made and last used, in epoch milliseconds. */
export type StoredPasskey = NewStoredPasskey & {
  readonly madeMs: number;
  readonly usedMs?: number;
};

/** A pair of keys of P-256 in base64url: the uncompressed point, and its scalar. */
export interface PushKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** An invitation. `secret` is the hash of its secret (SHA-256, base64url). */
export interface NewInvitation {
  readonly secret: string;
  readonly account: string;
  /** The session that made it; undefined for a token without one. */
  readonly by: string | undefined;
  readonly expiresMs: number;
}

/** An invitation that no device has used. */
export type WaitingInvitation = NewInvitation & { readonly madeMs: number };

/** Who decides on a login. */
export interface Decider {
  readonly account: string;
  readonly session: string | undefined;
}

/** A login that begins. `secret` as for an invitation. */
export interface NewLogin {
  readonly secret: string;
  readonly name: string;
  readonly kind: SessionKind;
  readonly key: SessionKey;
  readonly address?: string | undefined;
  readonly expiresMs: number;
}

/** A login on which no person has decided. */
export type WaitingLogin = Omit<NewLogin, 'expiresMs'> & { readonly madeMs: number };

/** Whose session a key becomes. */
export interface Admitted {
  readonly account: string;
  readonly session: string;
  /** The session that invited it or let it in. Its key gets in only while that session lives. */
  readonly by: string | undefined;
}

/** The key of an app. Its secret is derived from AUTH_SECRET and `salt` (worker/apps/secrets.ts), and is not stored. */
export interface StoredKey {
  readonly id: string;
  readonly salt: string;
  readonly createdMs: number;
  readonly terms: KeyTerms;
}
