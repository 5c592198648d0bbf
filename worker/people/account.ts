/** The Durable Object of one account: lists its bridges and conversations. Checking a token does not need it. */
import { DurableObject } from 'cloudflare:workers';
import type { ConversationInfo, ConversationList } from '../../shared/conversations.ts';
import type { Env } from '../env.ts';
import type { AccountPort, Answered, KnownBridge, Listed, ListQuery } from '../ports.ts';
import { AccountStore } from './account-statements.ts';
import { formatCursor } from './cursor.ts';

/**
 * Each conversation's own object has the truth, and this list follows it. The next response or change repairs a lost
 * update. Reading stores nothing.
 */
export class Account extends DurableObject<Env> implements AccountPort {
  readonly #store: AccountStore;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#store = new AccountStore(state.storage.sql);
  }

  bridgeConnected(bridgeId: string): void {
    this.#store.saveBridge(bridgeId, Date.now());
  }

  defaultBridge(): string | null {
    return this.bridges()[0]?.id ?? null;
  }

  bridges(): KnownBridge[] {
    return this.#store.readBridges();
  }

  begin(conversation: Listed): void {
    this.#store.insertConversation(conversation);
  }

  answered({ text, ...conversation }: Answered): void {
    this.#store.saveAnswered(conversation, text);
  }

  update(conversation: Listed): ConversationInfo {
    this.#store.saveConversation(conversation);
    const info = this.#store.readConversation(conversation.id);
    if (!info) throw new Error('a conversation that was just listed is not there');
    return info;
  }

  forget(conversationId: string): void {
    this.#store.deleteConversation(conversationId);
  }

  list(query: ListQuery): ConversationList {
    const items = this.#store.readConversations({ ...query, limit: query.limit + 1 });
    if (items.length <= query.limit) return { items, nextCursor: null };
    const page = items.slice(0, query.limit);
    return { items: page, nextCursor: nextCursorOf(page) };
  }

  redeem(ticketId: string, expiresMs: number): boolean {
    return this.#store.useTicket(ticketId, expiresMs, Date.now());
  }
}

function nextCursorOf(page: readonly ConversationInfo[]): string | null {
  const last = page.at(-1);
  return last ? formatCursor({ updatedMs: Date.parse(last.updated), id: last.id }) : null;
}
