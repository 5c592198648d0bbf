/** The Durable Object of one account: lists its bridges and conversations. Checking a token does not need it. */
import { DurableObject } from 'cloudflare:workers';
import type { AgentList } from '../../shared/api/agents.ts';
import type { ConversationInfo, ConversationList } from '../../shared/api/conversations.ts';
import type { UsageEntry } from '../../shared/api/usage.ts';
import { keyOfAccount } from '../../shared/wire/tokens.ts';
import type { Env } from '../env.ts';
import { directoryOf } from '../objects.ts';
import type {
  AccountPort,
  AgentListQuery,
  AnsweredExchange,
  KnownBridge,
  Listed,
  ListQuery,
  PrivateListing,
  SpentSince,
  UsageRange,
} from '../ports.ts';
import { wasTakenBack } from '../storage/restored.ts';
import { formatCursor } from './cursor.ts';
import { TICKET_LIMITS } from './limits.ts';
import { AccountStore } from './statements.ts';

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

  bridgeShared(bridgeId: string): void {
    this.#store.shareBridge(bridgeId, Date.now());
  }

  bridges(): KnownBridge[] {
    return this.#store.readBridges();
  }

  begin(conversation: Listed): void {
    this.#store.insertConversation(conversation);
  }

  answered({ text, spent, ...conversation }: AnsweredExchange): void {
    if (this.#store.saveAnswered(conversation, text, spent)) this.#report(spent?.entries);
  }

  update(conversation: Listed, spent?: UsageEntry): ConversationInfo {
    this.#store.saveConversation(conversation);
    if (spent) {
      this.#store.addUsage(spent);
      this.#report([spent]);
    }
    const info = this.#store.readConversation(conversation.id);
    if (!info) throw new Error('a conversation that was just listed is not there');
    return info;
  }

  forget(conversationId: string): void {
    this.#store.deleteConversation(conversationId);
  }

  waits(conversationId: string, isWaiting: boolean): void {
    this.#store.saveWaits(conversationId, isWaiting);
  }

  waiting(): string[] {
    return this.#store.readWaiting();
  }

  list(query: ListQuery): ConversationList {
    return pageOf(this.#store.readConversations({ ...query, limit: query.limit + 1 }), query);
  }

  agents(query: AgentListQuery): AgentList {
    return pageOf(this.#store.readAgents({ ...query, limit: query.limit + 1 }), query);
  }

  counted(conversationId: string): number | null {
    return this.#store.readCounted(conversationId);
  }

  count(conversationId: string, spent: SpentSince): void {
    if (this.#store.count(conversationId, spent, Date.now())) this.#report(spent.entries);
  }

  usage(range: UsageRange): { items: UsageEntry[]; hasMore: boolean } {
    return this.#store.readUsage(range);
  }

  spent(day: string): number {
    return this.#store.readSpent(day);
  }

  privateListing(conversationId: string): PrivateListing | null {
    return this.#store.readPrivate(conversationId);
  }

  deleteAfterHours(): number | null | undefined {
    return this.#store.readDeleteAfterHours();
  }

  setDeleteAfterHours(hours: number | null): void {
    this.#store.saveDeleteAfterHours(hours);
  }

  redeem(ticketId: string, expiresMs: number): boolean {
    // A ticket of before a restore may have been used in the future that was taken back.
    const nowMs = Date.now();
    if (wasTakenBack(this.env, expiresMs - TICKET_LIMITS.lifeMs, nowMs)) return false;
    return this.#store.useTicket(ticketId, expiresMs, nowMs);
  }

  /** Adds what a user of an app has spent to the app's sum. What is lost here only makes the app's limit later. */
  #report(entries: readonly UsageEntry[] = []): void {
    const key = keyOfAccount(this.ctx.id.name ?? '');
    if (key === undefined) return;
    const directory = directoryOf(this.env);
    for (const { day, totalTokens } of entries) {
      const spending = directory.spend(key, day, totalTokens);
      this.ctx.waitUntil(Promise.resolve(spending).catch(() => {}));
    }
  }
}

/** `found` has an entry more than the page if there is a next page. */
function pageOf<Info extends Pick<ConversationInfo, 'id' | 'updated'>>(
  found: Info[],
  { limit }: { readonly limit: number },
): { items: Info[]; nextCursor: string | null } {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  const nextCursor = last && formatCursor({ updatedMs: Date.parse(last.updated), id: last.id });
  return { items, nextCursor: nextCursor ?? null };
}
