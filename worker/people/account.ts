/** The Durable Object of one account: which bridges and conversations it has. Never on the path of a token. */
import { DurableObject } from 'cloudflare:workers';
import type { ConversationInfo, ConversationList } from '../../shared/conversations.ts';
import type { Env } from '../env.ts';
import {
  AccountStore,
  type KnownBridge,
  type Listed,
  type ListQuery,
} from './account-statements.ts';
import { formatCursor } from './cursor.ts';

/** A conversation at the end of a response; `text` is what was said in it. */
export interface Answered extends Listed {
  readonly text: string;
}

/**
 * A conversation is the truth of itself; the list here follows it. Whatever was lost on the way comes with the next
 * response or change. Asking stores nothing.
 */
export class Account extends DurableObject<Env> {
  readonly #store: AccountStore;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#store = new AccountStore(state.storage.sql);
  }

  /** Remembers a bridge, and that it connected now. */
  bridgeConnected(bridgeId: string): void {
    this.#store.saveBridge(bridgeId, Date.now());
  }

  /** The bridge that connected last; null when the account has none. */
  defaultBridge(): string | null {
    return this.bridges()[0]?.id ?? null;
  }

  /** The one that connected last comes first. */
  bridges(): KnownBridge[] {
    return this.#store.readBridges();
  }

  /** Lists a conversation that was just made; one that is listed already stays as it is. */
  begin(conversation: Listed): void {
    this.#store.insertConversation(conversation);
  }

  /** At the end of a response: one row. Lists the conversation where it is not listed, and adds to its text. */
  answered({ text, ...conversation }: Answered): void {
    this.#store.saveAnswered(conversation, text);
  }

  /** Lists the conversation as it is now; `updatedMs` counts only where it was not listed. */
  update(conversation: Listed): ConversationInfo {
    this.#store.saveConversation(conversation);
    const info = this.#store.readConversation(conversation.id);
    if (!info) throw new Error('a conversation that was just listed is not there');
    return info;
  }

  /** Takes a deleted conversation off the list. */
  forget(conversationId: string): void {
    this.#store.deleteConversation(conversationId);
  }

  list(query: ListQuery): ConversationList {
    const items = this.#store.readConversations({ ...query, limit: query.limit + 1 });
    if (items.length <= query.limit) return { items, nextCursor: null };
    const page = items.slice(0, query.limit);
    return { items: page, nextCursor: nextCursorOf(page) };
  }

  /** Uses a ticket up; false when it was used before. */
  redeem(ticketId: string, expiresMs: number): boolean {
    return this.#store.useTicket(ticketId, expiresMs, Date.now());
  }
}

function nextCursorOf(page: readonly ConversationInfo[]): string | null {
  const last = page.at(-1);
  return last ? formatCursor({ updatedMs: Date.parse(last.updated), id: last.id }) : null;
}
