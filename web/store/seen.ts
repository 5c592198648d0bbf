/** What was read, so that it is there at once at the next start, and without a network. */
import { clear, createStore, del, get, keys, set } from 'idb-keyval';
import type { BridgeInfo, ConversationInfo, ConversationView } from '../../client/index.ts';
import { attempt } from '../parts/storage.ts';

const store = createStore('drawbridge-seen', 'seen');

/** Conversations whose newest part is kept; those that were kept first go. */
const MAX_VIEWS = 50;
const LIST = 'list';

/** The list as it was last read. */
export interface SeenList {
  readonly conversations: readonly ConversationInfo[];
  readonly bridges: readonly BridgeInfo[];
}

/** An entry is read by its own account alone, whatever was written late by a page that is signed out. */
interface Owned<Value> {
  readonly account: string;
  readonly value: Value;
}

async function readOwned<Value>(account: string, key: string): Promise<Value | undefined> {
  const entry = await attempt(() => get<Owned<Value>>(key, store));
  return entry?.account === account ? entry.value : undefined;
}

export async function readSeenList(account: string): Promise<SeenList | undefined> {
  return await readOwned<SeenList>(account, LIST);
}

export async function keepSeenList(account: string, value: SeenList): Promise<void> {
  await attempt(() => set(LIST, { account, value }, store));
}

export async function readSeen(
  account: string,
  conversationId: string,
): Promise<ConversationView | undefined> {
  return await readOwned<ConversationView>(account, conversationId);
}

/** Never keeps a private conversation. */
export async function keepSeen(account: string, view: ConversationView): Promise<void> {
  if (view.privacy) return await forgetSeen(view.id);
  const known = await seenConversations();
  const old = known.slice(0, Math.max(0, known.length - MAX_VIEWS));
  await Promise.all(old.map(forgetSeen));
  await attempt(() => set(view.id, { account, value: view }, store));
}

/** The conversations whose newest part is kept. */
export async function seenConversations(): Promise<string[]> {
  const known = (await attempt(() => keys<string>(store))) ?? [];
  return known.filter((key) => key !== LIST);
}

export async function forgetSeen(conversationId: string): Promise<void> {
  await attempt(() => del(conversationId, store));
}

/** For the end of a session. */
export async function forgetAllSeen(): Promise<void> {
  await attempt(() => clear(store));
}
