/** What this browser keeps: its session, its keys and unsent messages in IndexedDB, drafts in localStorage. */
import { clear, createStore, delMany, get, set, update } from 'idb-keyval';
import type { ChatInput, DeviceKey, KeptSession, KeyedDevice } from '../../client/index.ts';

/** A message that the server may not have yet. */
export interface Unsent {
  /** The Idempotency-Key: however often it is sent, it arrives once. */
  readonly key: string;
  /** Whose message it is: another account of this browser never sends it. */
  readonly account: string;
  readonly input: ChatInput;
}

/** What approves, and the bridges that have taken it. `device` is its private half, unless an authenticator has it. */
export interface KeptDevice {
  readonly device?: KeyedDevice;
  readonly enrolment: DeviceKey;
  readonly bridges: readonly string[];
}

interface Kept {
  session: KeptSession;
  device: KeptDevice;
  passkey: KeptDevice;
  unsent: readonly Unsent[];
}

const store = createStore('drawbridge', 'kept');

/** Undefined where nothing is kept, and where the browser gives no storage: the page then works until it is closed. */
export async function readKept<Name extends keyof Kept>(
  name: Name,
): Promise<Kept[Name] | undefined> {
  return await get<Kept[Name]>(name, store).catch(() => undefined);
}

export async function keep<Name extends keyof Kept>(name: Name, value: Kept[Name]): Promise<void> {
  await set(name, value, store).catch(() => undefined);
}

/** Keeps who is signed in. Forgets what approves for another account, which a second tab has let in before. */
export async function keepSession(session: KeptSession): Promise<void> {
  const before = await readKept('session');
  if (before && before.account !== session.account) {
    await delMany(['device', 'passkey'], store).catch(() => undefined);
  }
  await keep('session', session);
}

/** In one transaction: two tabs may change the list at once. */
export async function changeUnsent(
  change: (unsent: readonly Unsent[]) => readonly Unsent[],
): Promise<void> {
  await update<Kept['unsent']>('unsent', (kept = []) => change(kept), store).catch(() => undefined);
}

/** Forgets the session, the keys, the drafts, and everything that was read. */
export async function forgetAll(): Promise<void> {
  localStorage.clear();
  await clear(store).catch(() => undefined);
}
