/** The Durable Object of one account: lists its bridges and conversations, streams changes, and knows its standing. */
import { DurableObject } from 'cloudflare:workers';
import type { AccountState } from '../../shared/api/accounts.ts';
import type { AgentList } from '../../shared/api/agents.ts';
import type { ConversationInfo, ConversationList } from '../../shared/api/conversations.ts';
import type { RecordAction } from '../../shared/api/records.ts';
import type { UsageEntry } from '../../shared/api/usage.ts';
import { keyOfAccount } from '../../shared/wire/tokens.ts';
import { parseFollowRequest } from '../conversation/reading/requests.ts';
import type { Env } from '../env.ts';
import { directoryOf } from '../objects.ts';
import { DONE, type Outcome, toOutcome, unwrap } from '../outcome.ts';
import { checkProof } from '../people/proof.ts';
import { refused } from '../people/refused.ts';
import type {
  AccountPort,
  Activity,
  AgentListQuery,
  AnsweredExchange,
  DoomedPart,
  Heard,
  KnownBridge,
  Listed,
  ListQuery,
  NewStoredSession,
  PrivateListing,
  Refused,
  SpentSince,
  Standing,
  StillAsked,
  StoredPush,
  StoredSession,
  StoredTicket,
  UsageRange,
  WantedState,
} from '../ports/account.ts';
import { hasNewAsk, kindOfEnd } from '../push/message.ts';
import { isDamage } from '../storage/damage.ts';
import {
  type Act,
  addRecord,
  type RecordsPage,
  readRecords,
  type StoredRecord,
} from '../storage/records.ts';
import { firstPositionOf, restoredFor, wasTakenBack } from '../storage/restored.ts';
import { formatCursor } from './cursor.ts';
import { TICKET_LIMITS } from './limits.ts';
import { readPushes, savePush } from './push-statements.ts';
import { Pushes } from './pushes.ts';
import {
  addSession,
  conversationsAfter,
  endAll,
  endSession,
  noteUse,
  readSession,
  readSessions,
  useProof,
} from './session-statements.ts';
import { listPart, nextState, readStanding, salvage, saveState } from './standing-statements.ts';
import { AccountStore } from './statements.ts';
import { AccountReader } from './stream.ts';
import { addUsage, noteUnlisted, readHeard, readSpent, readUsage } from './usage-statements.ts';
import { Walk } from './walk.ts';

/** A list that follows the conversations' own objects: the next response or change repairs a lost update. */
export class Account extends DurableObject<Env> implements AccountPort {
  readonly #store: AccountStore;
  readonly #stream: AccountReader;
  readonly #walk: Walk;
  readonly #pushes: Pushes;

  constructor(state: DurableObjectState, env: Env) {
    super(state, restoredFor(env, state));
    this.#store = new AccountStore(state.storage.sql, firstPositionOf(this.env));
    this.#stream = new AccountReader(state, env, this.#store);
    this.#walk = new Walk(state, env, this.#store);
    this.#pushes = new Pushes(state, env, this.#store);
  }

  bridgeConnected(bridgeId: string, session?: string, replaces = false): Refused | null {
    const why = this.refusal(session);
    if (why) return why;
    if (this.#store.saveBridge(bridgeId, Date.now())) {
      this.record({ action: 'bridge_added', subject: bridgeId, session });
    }
    if (replaces) this.record({ action: 'bridge_replaced', subject: bridgeId, session });
    this.#stream.changed(bridgeId);
    return null;
  }

  bridgeClosed(bridgeId: string): void {
    if (this.#store.saveConnected(bridgeId, false)) this.#stream.changed(bridgeId);
  }

  bridgeShared(bridgeId: string): void {
    if (!this.#store.shareBridge(bridgeId, Date.now())) return;
    this.record({ action: 'bridge_shared', subject: bridgeId });
    this.#changed(bridgeId);
  }

  bridges(): KnownBridge[] {
    return this.#store.readBridges();
  }

  making(conversationId: string): Refused | null {
    const why = this.refusal(undefined);
    if (!why) noteUnlisted(this.#store.written, conversationId, Date.now());
    return why;
  }

  begin(conversation: Listed): void {
    if (this.#store.insertConversation(conversation)) this.#changed(conversation.id);
  }

  answered({ text, spent, run, ...conversation }: AnsweredExchange): void {
    if (this.#store.saveAnswered(conversation, text, spent)) this.#report(spent?.entries);
    this.#changed(conversation.id);
    const kind = kindOfEnd(conversation, run);
    if (kind) this.#pushes.notify(kind, conversation.id);
  }

  update(conversation: Listed, spent?: UsageEntry): ConversationInfo {
    this.#store.saveConversation(conversation);
    this.#changed(conversation.id);
    if (spent) {
      addUsage(this.#store.written, spent);
      this.#report([spent]);
    }
    const info = this.#store.readConversation(conversation.id);
    if (!info) throw new Error('a conversation that was just listed is not there');
    return info;
  }

  forget(conversationId: string, session?: string): void {
    if (!this.#store.deleteConversation(conversationId)) return;
    this.record({ action: 'conversation_deleted', subject: conversationId, session });
    this.#stream.changed(conversationId);
  }

  acts(conversationId: string, activity: Activity): void {
    const before = this.#store.readAsks(conversationId);
    if (!this.#store.saveActivity(conversationId, activity)) return;
    this.#changed(conversationId);
    if (hasNewAsk(before, activity.asks)) this.#pushes.notify('waiting', conversationId);
  }

  waiting(): string[] {
    return this.#store.readWaiting();
  }

  async list(query: ListQuery, stillAsked: StillAsked): Promise<string> {
    const asked = { ...query, limit: query.limit + 1 };
    const found = await this.#store.findConversations(asked, stillAsked);
    return JSON.stringify(pageOf(found, query) satisfies ConversationList);
  }

  async agents(query: AgentListQuery, stillAsked: StillAsked): Promise<AgentList> {
    return pageOf(
      await this.#store.findAgents({ ...query, limit: query.limit + 1 }, stillAsked),
      query,
    );
  }

  heard(conversationId: string): Heard {
    const { stored } = this.#store;
    return stored ? readHeard(stored, conversationId) : { isListed: false, through: 0 };
  }

  count(conversationId: string, spent: SpentSince): void {
    if (!this.#store.count(conversationId, spent, Date.now())) return;
    this.#report(spent.entries);
    this.#changed(conversationId);
  }

  usage(range: UsageRange): { items: UsageEntry[]; hasMore: boolean } {
    const { stored } = this.#store;
    return stored ? readUsage(stored, range) : { items: [], hasMore: false };
  }

  spent(day: string): number {
    const { stored } = this.#store;
    return stored ? readSpent(stored, day) : 0;
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

  redeem(ticket: StoredTicket, isReturn: boolean): boolean {
    // A ticket of before a restore may have been used in the future that was taken back.
    const nowMs = Date.now();
    if (wasTakenBack(this.env, ticket.firstMs - TICKET_LIMITS.lifeMs, nowMs)) return false;
    return this.#store.useTicket(ticket, isReturn, nowMs);
  }

  addSession(session: NewStoredSession, admittedBy: string | undefined): Outcome<void> {
    const why = this.refusal(undefined);
    if (why) return failure(why);
    const added = addSession(this.#store.written, session, admittedBy, Date.now());
    if (!added.ok) return added;
    const subject = `${session.id} ${session.name}`;
    if (added.value) this.record({ action: 'signed_in', subject, session: admittedBy });
    return DONE;
  }

  sessions(): StoredSession[] {
    const { stored } = this.#store;
    return stored ? readSessions(stored) : [];
  }

  proveSession(id: string, proof: string): Promise<Outcome<StoredSession>> {
    return toOutcome(async () => {
      const session = this.#living(id);
      const used = await checkProof(proof, session.key, id);
      this.#living(id); // It may have ended meanwhile.
      unwrap(useProof(this.#store.written, id, used, Date.now()));
      return session;
    });
  }

  #living(id: string): StoredSession {
    const why = this.refusal(id);
    const session = this.#session(id);
    if (why || !session) throw refused(why ?? 'SESSION_ENDED');
    return session;
  }

  refusal(session: string | undefined): Refused | null {
    const { state } = this.#store;
    if (state !== 'active') return state === 'suspended' ? 'ACCOUNT_SUSPENDED' : 'ACCOUNT_DELETED';
    if (session === undefined) return null;
    const living = this.#session(session);
    if (living) noteUse(this.#store.written, living, Date.now());
    return living ? null : 'SESSION_ENDED';
  }

  #session(id: string): StoredSession | undefined {
    const { stored } = this.#store;
    return stored ? readSession(stored, id) : undefined;
  }

  standing(): Outcome<Standing> {
    const { stored } = this.#store;
    return stored ? { ok: true, value: readStanding(stored) } : UNKNOWN;
  }

  async changeState(wanted: WantedState): Promise<Outcome<Standing>> {
    const { state, stored } = this.#store;
    if (!stored) return UNKNOWN;
    const next = nextState(state, wanted);
    if (next === null) return failure('ACCOUNT_DELETED');
    if (next !== state) await this.#enter(next);
    return this.standing();
  }

  async #enter(state: AccountState): Promise<void> {
    const { storage, id } = this.ctx;
    saveState(storage.sql, state, Date.now());
    this.record({ action: ENTRIES[state], subject: id.name ?? '' });
    endAll(storage.sql, state !== 'active');
    if (state === 'active') return;
    this.#stream.endSession(null);
    await storage.setAlarm(Date.now());
  }

  async wipe(): Promise<void> {
    const { storage, id } = this.ctx;
    const parts = salvage(storage.sql);
    const erased = storage.deleteAll();
    this.#store.makeAgain(); // Without an await, so that nothing comes between the two.
    saveState(storage.sql, 'deleting', Date.now());
    this.record({ action: 'account_deleted', subject: id.name ?? '' });
    for (const part of parts) listPart(storage.sql, part, Date.now());
    this.#stream.endSession(null);
    await Promise.all([erased, storage.setAlarm(Date.now())]);
  }

  left(part: DoomedPart): boolean {
    if (this.refusal(undefined) !== 'ACCOUNT_DELETED') return false;
    listPart(this.#store.written, part, Date.now());
    void this.ctx.storage.setAlarm(Date.now());
    return true;
  }

  conversationsAfter(id: string): string[] {
    const { stored } = this.#store;
    return stored ? conversationsAfter(stored, id) : [];
  }

  record(act: Act): void {
    addRecord(this.#store.written, act, Date.now());
  }

  records(page: RecordsPage): StoredRecord[] {
    const { stored } = this.#store;
    return stored ? readRecords(stored, page) : [];
  }

  push(session: string): StoredPush | null {
    const { stored } = this.#store;
    return (stored && readPushes(stored).get(session)) ?? null;
  }

  savePush(session: string, push: StoredPush | null): void {
    if (this.#store.stored) savePush(this.#store.stored, session, push);
  }

  async endSession(id: string, by?: string): Promise<void> {
    const { stored } = this.#store;
    if (!stored || !endSession(stored, id, Date.now())) return;
    this.record({ action: 'session_ended', subject: id, session: by });
    this.#stream.endSession(id);
    await this.ctx.storage.setAlarm(Date.now());
  }

  override async alarm(): Promise<void> {
    try {
      await this.#walk.run();
    } catch (error) {
      // One that is being deleted needs nothing of its file. Of another object's file its caller decides.
      const isOwn = isDamage(error) && Object(error).remote !== true;
      if (!isOwn || this.refusal(undefined) !== 'ACCOUNT_DELETED') throw error;
      await this.wipe();
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

  /** Sends a change. What comes after the account was deleted is deleted, too. */
  #changed(id: string): void {
    this.#stream.changed(id);
    if (this.refusal(undefined) === 'ACCOUNT_DELETED') void this.ctx.storage.setAlarm(Date.now());
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

const UNKNOWN = {
  ok: false,
  code: 'NOT_FOUND',
  message: 'Nothing of this account is stored here',
} as const;

/** What is recorded when an account gets into a state. */
const ENTRIES: Readonly<Record<AccountState, RecordAction>> = {
  active: 'account_resumed',
  suspended: 'account_suspended',
  deleting: 'account_deleted',
  deleted: 'account_deleted',
};

function failure(why: Refused): Outcome<never> {
  const { code, message } = refused(why);
  return { ok: false, code, message };
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
