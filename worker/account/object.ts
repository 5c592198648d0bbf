/**
 * The Durable Object of one account: lists its bridges and conversations, and streams their changes. Checking a token
 * does not need it.
 */
import { DurableObject } from 'cloudflare:workers';
import type { AgentList } from '../../shared/api/agents.ts';
import type { ConversationInfo, ConversationList } from '../../shared/api/conversations.ts';
import type { UsageEntry } from '../../shared/api/usage.ts';
import { keyOfAccount } from '../../shared/wire/tokens.ts';
import { parseFollowRequest } from '../conversation/reading/requests.ts';
import type { Env } from '../env.ts';
import { conversationOf, directoryOf, tunnelOf } from '../objects.ts';
import type { Outcome } from '../outcome.ts';
import { toOutcome, unwrap } from '../outcome.ts';
import { checkProof } from '../people/proof.ts';
import { sessionEnded } from '../people/session-ended.ts';
import type {
  AccountPort,
  AgentListQuery,
  AnsweredExchange,
  KnownBridge,
  Listed,
  ListQuery,
  NewStoredSession,
  PrivateListing,
  SpentSince,
  StoredPush,
  StoredSession,
  UsageRange,
  Waiting,
} from '../ports.ts';
import { hasNewAsk, kindOfEnd } from '../push/message.ts';
import { firstPositionOf, wasTakenBack } from '../storage/restored.ts';
import { formatCursor } from './cursor.ts';
import { SESSION_KEEPING, TICKET_LIMITS } from './limits.ts';
import { Pushes } from './pushes.ts';
import { AccountStore } from './statements.ts';
import { AccountStream } from './stream.ts';

/**
 * Each conversation's own object has the truth, and this list follows it. The next response or change repairs a lost
 * update. Reading stores nothing.
 */
export class Account extends DurableObject<Env> implements AccountPort {
  readonly #store: AccountStore;
  readonly #stream: AccountStream;
  readonly #pushes: Pushes;
  /** How often the cutting has failed in a row. */
  #failedCuts = 0;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#store = new AccountStore(state.storage.sql, firstPositionOf(env));
    this.#stream = new AccountStream(state, env, this.#store);
    this.#pushes = new Pushes(state, env, this.#store);
  }

  bridgeConnected(bridgeId: string, session?: string): boolean {
    if (session !== undefined && !this.usesSession(session)) return false;
    this.#store.saveBridge(bridgeId, Date.now());
    this.#stream.changed(bridgeId);
    return true;
  }

  bridgeClosed(bridgeId: string): void {
    if (this.#store.saveConnected(bridgeId, false)) this.#stream.changed(bridgeId);
  }

  bridgeShared(bridgeId: string): void {
    if (this.#store.shareBridge(bridgeId, Date.now())) this.#stream.changed(bridgeId);
  }

  bridges(): KnownBridge[] {
    return this.#store.readBridges();
  }

  begin(conversation: Listed): void {
    if (this.#store.insertConversation(conversation)) this.#stream.changed(conversation.id);
  }

  answered({ text, spent, run, ...conversation }: AnsweredExchange): void {
    if (this.#store.saveAnswered(conversation, text, spent)) this.#report(spent?.entries);
    this.#stream.changed(conversation.id);
    const kind = kindOfEnd(conversation, run);
    if (kind) this.#pushes.notify(kind, conversation.id);
  }

  update(conversation: Listed, spent?: UsageEntry): ConversationInfo {
    this.#store.saveConversation(conversation);
    this.#stream.changed(conversation.id);
    if (spent) {
      this.#store.addUsage(spent);
      this.#report([spent]);
    }
    const info = this.#store.readConversation(conversation.id);
    if (!info) throw new Error('a conversation that was just listed is not there');
    return info;
  }

  forget(conversationId: string): void {
    if (this.#store.deleteConversation(conversationId)) this.#stream.changed(conversationId);
  }

  waits(conversationId: string, waiting: Waiting): void {
    const before = this.#store.readAsks(conversationId);
    if (!this.#store.saveWaits(conversationId, waiting)) return;
    this.#stream.changed(conversationId);
    if (hasNewAsk(before, waiting.asks)) this.#pushes.notify('waiting', conversationId);
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

  addSession(session: NewStoredSession, admittedBy: string | undefined): Outcome<void> {
    return this.#store.addSession(session, admittedBy, Date.now());
  }

  sessions(): StoredSession[] {
    return this.#store.readSessions();
  }

  proveSession(id: string, proof: string): Promise<Outcome<StoredSession>> {
    return toOutcome(async () => {
      const session = this.#store.readSession(id);
      if (!session) throw sessionEnded();
      const used = await checkProof(proof, session.key, id);
      // It may have ended meanwhile.
      if (!this.#store.readSession(id)) throw sessionEnded();
      unwrap(this.#store.useProof(id, used, Date.now()));
      return session;
    });
  }

  usesSession(id: string): boolean {
    const session = this.#store.readSession(id);
    if (session) this.#store.noteUse(session, Date.now());
    return session !== undefined;
  }

  push(session: string): StoredPush | null {
    return this.#store.readPushes().get(session) ?? null;
  }

  savePush(session: string, push: StoredPush | null): void {
    this.#store.savePush(session, push);
  }

  async endSession(id: string): Promise<void> {
    if (!this.#store.endSession(id, Date.now())) return;
    this.#stream.endSession(id);
    await this.ctx.storage.setAlarm(Date.now());
  }

  /**
   * Cuts the streams and bridges of sessions that have ended. Begins again where an attempt was lost. Passes over an
   * object that stays away: the end of its token cuts what it holds.
   */
  override async alarm(): Promise<void> {
    for (let next = this.#store.nextEnding(); next; next = this.#store.nextEnding()) {
      const { session, conversations } = next;
      const bridges = this.#store.readBridges();
      const account = this.ctx.id.name ?? '';
      const cuts = [
        ...bridges.map(({ id }) => tunnelOf(this.env, id).endSession(account, session)),
        ...conversations.map((id) =>
          conversationOf(this.env, { conversationId: id }).endSession(session),
        ),
      ];
      const results = await Promise.allSettled(cuts);
      const hasFailed = results.some(({ status }) => status === 'rejected');
      this.#failedCuts = hasFailed ? this.#failedCuts + 1 : 0;
      if (hasFailed && this.#failedCuts < SESSION_KEEPING.maxCutTries) {
        return await this.ctx.storage.setAlarm(Date.now() + SESSION_KEEPING.retryMs);
      }
      this.#store.noteCut(next);
    }
  }

  /** Opens a follower's socket. The Worker has checked whose account this is. */
  override fetch(request: Request): Response {
    const { following, cursor } = parseFollowRequest(new URL(request.url));
    return this.#stream.attach(following, cursor);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#stream.detach(socket);
    socket.close();
  }

  override webSocketMessage(): void {
    // Followers only listen.
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
