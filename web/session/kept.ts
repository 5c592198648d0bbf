/** What this browser keeps: its session, its keys and unsent messages in IndexedDB, drafts in localStorage. */
import { clear, createStore, delMany, get, set, update } from 'idb-keyval';
import type { ChatInput, DeviceKey, KeptSession, KeyedDevice } from '../../client/index.ts';
import { attempt, forgetTexts } from '../parts/storage.ts';

/** A message that the server may not have yet. */
export interface Unsent {
  /** The Idempotency-Key: however often it is sent, it arrives once. */
  readonly key: string;
  readonly input: ChatInput;
}

/** The unsent messages of one account: another account of this browser never sends them. */
export interface UnsentStore {
  read(): Promise<readonly Unsent[]>;
  add(unsent: Unsent): Promise<void>;
  remove(key: string): Promise<void>;
}

/** What approves: a key of this browser, or a passkey, which its person has to touch for each call. */
export type Approver = 'device' | 'passkey';

export const APPROVERS: readonly Approver[] = ['device', 'passkey'];

/** What approves, and the bridges that have taken it. `device` is its private half, unless an authenticator has it. */
export interface KeptDevice {
  readonly device?: KeyedDevice;
  readonly enrolment: DeviceKey;
  readonly bridges: readonly string[];
}

interface KeptEntries {
  session: KeptSession;
  device: KeptDevice;
  passkey: KeptDevice;
  unsent: readonly (Unsent & { readonly account: string })[];
}

const store = createStore('drawbridge', 'kept');

/** Undefined where nothing is kept, and where the browser gives no storage: the page then works until it is closed. */
export async function readKept<Name extends keyof KeptEntries>(
  name: Name,
): Promise<KeptEntries[Name] | undefined> {
  return await attempt(() => get<KeptEntries[Name]>(name, store));
}

export async function keep<Name extends keyof KeptEntries>(
  name: Name,
  value: KeptEntries[Name],
): Promise<void> {
  await attempt(() => set(name, value, store));
}

export function unsentOf(account: string): UnsentStore {
  return {
    read: async () => ((await readKept('unsent')) ?? []).filter((each) => each.account === account),
    add: (unsent) => changeUnsent((kept) => [...kept, { ...unsent, account }]),
    remove: (key) => changeUnsent((kept) => kept.filter((each) => each.key !== key)),
  };
}

/** Keeps who is signed in. Forgets what approves for another account, which a second tab has let in before. */
export async function keepSession(session: KeptSession): Promise<void> {
  const before = await readKept('session');
  if (before && before.account !== session.account) {
    await attempt(() => delMany(['device', 'passkey'], store));
  }
  await keep('session', session);
}

/** In one transaction: two tabs may change the list at once. */
async function changeUnsent(
  change: (unsent: KeptEntries['unsent']) => KeptEntries['unsent'],
): Promise<void> {
  await attempt(() => update<KeptEntries['unsent']>('unsent', (kept = []) => change(kept), store));
}

/** Forgets the session, the keys, the drafts, and everything that was read. */
export async function forgetAll(): Promise<void> {
  forgetTexts();
  await attempt(() => clear(store));
}
