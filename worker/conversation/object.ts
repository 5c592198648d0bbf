/** The Durable Object of one conversation: the methods that the Worker and the tunnels call. Its parts do the work. */
import { DurableObject } from 'cloudflare:workers';
import type { Agent, WebhookDelivery } from '../../shared/api/agents.ts';
import type { Cancelled } from '../../shared/api/answers.ts';
import type { GivenResults } from '../../shared/api/app-results.ts';
import type { ConversationInfo, ConversationPatch } from '../../shared/api/conversations.ts';
import {
  type ApprovalRequest,
  type ClarificationAnswer,
  type MessageContent,
  textOf,
} from '../../shared/api/requests.ts';
import { DrawbridgeError, toWireError } from '../../shared/errors.ts';
import { responseIdOf } from '../../shared/ids.ts';
import type { Plan, PlanEdit } from '../../shared/wire/plans.ts';
import { TRACE_HEADER } from '../../shared/wire/trace.ts';
import type { GuestCall, ToolResult } from '../../shared/wire/tunnel.ts';
import type { Env } from '../env.ts';
import { logEvent } from '../health/log.ts';
import { HELD_LIMITS } from '../images/limits.ts';
import type { WaitingPlace } from '../images/waiting.ts';
import { accountOf } from '../objects.ts';
import { type Outcome, toOutcome, unwrap } from '../outcome.ts';
import type { Belonging, PrivateListing, ResponseUsage } from '../ports/account.ts';
import type {
  ApprovalAsked,
  ApprovalResolution,
  Caller,
  ConversationPort,
  ForkPage,
  ForkPoint,
  ForkSource,
  Ordinals,
  PageStart,
  Submission,
  TaskReport,
} from '../ports/conversation.ts';
import { defaultPrivacy } from '../privacy.ts';
import { reach, storageFault } from '../reach.ts';
import { hasSchema } from '../storage/migrations.ts';
import { restoredFor } from '../storage/restored.ts';
import { RowMeter } from '../storage/row-meter.ts';
import { TunnelHands } from './calls/hands.ts';
import { extentOf, noteMaking, pagesOf, takePages } from './fork/fork.ts';
import { readPage } from './fork/pages.ts';
import { agentOf, notFound, offeredBy, runOf } from './found.ts';
import { takeImages } from './image-taking.ts';
import { saidIn } from './listing.ts';
import { assembleParts, type Parts } from './parts.ts';
import { contentDeleted, lapsesAtMs, stoneOf, toListedRow, viewOfStone } from './privacy.ts';
import { parseFollowRequest, parseReadRequest, READ_PATH } from './reading/requests.ts';
import { serveFollower, serveRead } from './serving.ts';
import type { ConversationRow } from './store/rows.ts';
import { ConversationStore } from './store/statements.ts';
import { guestSubmission, refuseSubagent, type TakingInDoor, takeIn } from './taking-in.ts';
import { Followers } from './tape/followers.ts';

/**
 * One conversation, or for some seconds the images of a request that will belong to one. The constructor writes only to
 * migrate a stored conversation, so a request for an unknown id stores nothing. Expected failures come back as {@link Outcome}. Every method that takes a caller checks the owner.
 */
export class Conversation extends DurableObject<Env> implements ConversationPort {
  readonly #meter = new RowMeter();
  readonly #store: ConversationStore;
  readonly #followers: Followers;
  #parts: Parts | null;
  /** Set once the text of a private conversation is deleted, or is being deleted. */
  #stone: ConversationRow | null;
  #burying: Promise<void> | null = null;
  /** Set while this object copies another conversation into itself. */
  #copying: Promise<void> | null = null;
  /** Messages that are being stored. What they have stored already is no remains of a dead instance. */
  #taking = 0;
  /** Pieces that one of them has found here, which another one may have brought. */
  readonly #foundPieces = new Set<string>();

  constructor(state: DurableObjectState, env: Env) {
    super(state, restoredFor(env, state));
    this.#store = new ConversationStore(state.storage.sql, this.#meter);
    this.#followers = new Followers(state);
    const row = this.#store.readConversation();
    const isDeleted = row?.deletedMs !== undefined;
    this.#stone = isDeleted ? row : null;
    this.#parts = row && !isDeleted ? this.#assemble(row, true) : null;
  }

  submit(caller: Caller, submission: Submission): Promise<Outcome<{ responseId: string }>> {
    return toOutcome(async () => {
      await this.#copying?.catch(() => undefined); // The caller of `fork` gets the error.
      if (!submission.create) await this.#findStone(caller);
      this.#requireText(caller);
      if (!this.#parts && hasSchema(this.ctx.storage.sql)) await this.#sweep();
      const { messages } = submission.request;
      const isIts = this.#parts ? this.#parts.row.owner === caller.account : submission.create;
      const said = isIts ? messages.map(({ content }) => content) : [];
      const taken = await this.#withImages(said, submission.images, () =>
        takeIn(caller, submission, this.#doorFor(caller)),
      );
      await this.#parts?.note.report();
      return taken;
    });
  }

  takeGuestCall(
    caller: Caller,
    bridgeId: string,
    call: GuestCall,
  ): Promise<Outcome<{ responseId: string }>> {
    return toOutcome(async () => {
      const log = this.#parts?.log;
      if (!log) await noteMaking(this.env, caller);
      const hours = log ? null : await defaultPrivacy(this.env, caller.account);
      const submission = guestSubmission(log, bridgeId, call, hours);
      return unwrap(await this.submit(caller, submission));
    });
  }

  agent(caller: Caller, withSecret: boolean): Promise<Outcome<Agent>> {
    return toOutcome(() => agentOf(this.#partsFor(caller)).describe(withSecret));
  }

  deliveries(caller: Caller): Promise<Outcome<WebhookDelivery[]>> {
    return toOutcome(() => agentOf(this.#partsFor(caller)).deliveries());
  }

  usages(caller: Caller): Promise<Outcome<ResponseUsage[]>> {
    return toOutcome(() => {
      const parts = this.#partsFor(caller);
      agentOf(parts);
      return parts.reader.usages();
    });
  }

  stopAgent(caller: Caller): Promise<Outcome<void>> {
    return toOutcome(() => {
      const { runner, log, ...parts } = this.#partsFor(caller);
      agentOf(parts);
      for (const run of [...log.open].reverse()) runner.cancel(run);
    });
  }

  owner(): Belonging | null {
    const row = this.#parts?.row ?? this.#stone;
    return row && { id: row.id, account: row.owner };
  }

  wake(): boolean {
    this.#parts?.note.learn({ isInProgress: true }); // The note may be older than the end of the run.
    void this.#parts?.note.report();
    this.#parts?.runner.advance();
    return this.#parts !== null;
  }

  cancel(caller: Caller, ordinal: number, unlessFollowed = false): Promise<Outcome<Cancelled>> {
    return toOutcome(() => {
      const parts = this.#partsFor(caller);
      const run = runOf(parts, ordinal);
      const stays = unlessFollowed && this.#followers.has(responseIdOf(parts.row.id, ordinal));
      if (run.last === null && !stays) parts.runner.cancel(run);
      const { id, status } = parts.reader.response(runOf(parts, ordinal));
      return { id, status };
    });
  }

  edit(
    caller: Caller,
    ordinal: number,
    content: MessageContent,
    images?: WaitingPlace,
  ): Promise<Outcome<Cancelled>> {
    return toOutcome(async () => {
      this.#partsFor(caller);
      return await this.#withImages([content], images, () => {
        const { inbox, reader, ...parts } = this.#partsFor(caller);
        const run = runOf(parts, ordinal);
        if (!inbox.edit(run, content)) {
          throw new DrawbridgeError('ALREADY_STARTED', 'The message is no longer waiting');
        }
        const { id, status } = reader.response(run);
        return { id, status };
      });
    });
  }

  offered(caller: Caller, ordinal: number): Promise<Outcome<string[] | null>> {
    return toOutcome(() => {
      return offeredBy(runOf(this.#partsFor(caller), ordinal));
    });
  }

  find(caller: Caller, ordinal: number | null): Promise<Outcome<void>> {
    return toOutcome(() => {
      const parts = this.#partsFor(caller);
      if (ordinal !== null) runOf(parts, ordinal);
    });
  }

  ordinals(caller: Caller): Promise<Outcome<Ordinals>> {
    return toOutcome(() => {
      const { log } = this.#partsFor(caller);
      return { newest: log.newest, open: log.open.at(-1)?.ordinal ?? null };
    });
  }

  update(caller: Caller, patch: ConversationPatch): Promise<Outcome<ConversationInfo>> {
    return toOutcome(async () => {
      const { row, listing, recorder, reader } = this.#partsFor(caller);
      if (row.ephemeral) throw notFound('conversation');
      refuseSubagent({ row });
      if (listing.change(patch)) {
        const { title, archived } = listing.row;
        recorder.record([{ type: 'conversation_update', title, archived }]);
      }
      return await listing.publish(reader.answeredMs());
    });
  }

  delete(caller: Caller, parent?: string): Promise<Outcome<void>> {
    return toOutcome(async () => {
      await this.#burying?.catch(() => undefined);
      await this.#copying?.catch(() => undefined);
      if (!this.#parts && !this.#stone && hasSchema(this.ctx.storage.sql)) await this.#sweep();
      const parts = this.#parts;
      if ((parts?.row ?? this.#stone)?.owner !== caller.account) throw notFound('conversation');
      const isOther = parent !== undefined && parts?.row.parent?.conversationId !== parent;
      if (isOther) throw notFound('conversation');
      if (!parts) {
        this.#stone = null;
        return await this.ctx.storage.deleteAll();
      }
      if (parts.children.hasAny) {
        // First, so that no more subagents start. This conversation goes last: a second attempt finds what is left.
        for (const run of [...parts.log.open]) parts.runner.cancel(run);
        await parts.children.deleteAll();
      }
      if (this.#parts) await this.#erase(this.#parts);
    });
  }

  fork(caller: Caller, source: ForkSource): Promise<Outcome<void>> {
    return toOutcome(async () => {
      this.#requireText(caller);
      if (!this.#parts) this.#copying ??= this.#copy(caller, source);
      await this.#copying;
      await this.#partsFor(caller).listing.report(); // Also for an instance that died before it did.
    });
  }

  forkPage(caller: Caller, point: ForkPoint, start: PageStart): Promise<Outcome<ForkPage>> {
    return toOutcome(() => {
      const parts = this.#partsFor(caller);
      const isFirst = start.table === 0 && start.offset === 0;
      if (isFirst) runOf(parts, point.ordinal); // Once: the run can be as large as a body.
      const extent = extentOf(parts.log, this.#store.runs, point);
      const { bridge, title, deleteAfterHours } = parts.listing.row;
      const page = readPage(this.ctx.storage.sql, extent, start);
      return { ...page, bridge, title, deleteAfterHours, ordinal: extent.ordinal };
    });
  }

  worktreeOf(caller: Caller): Promise<Outcome<string | null>> {
    return toOutcome(() => {
      const { log } = this.#partsFor(caller);
      const worktree = log.find(log.newest)?.request.worktree;
      return worktree === true ? caller.conversationId : (worktree ?? null);
    });
  }

  answerApproval(
    caller: Caller,
    callId: string,
    answer: ApprovalRequest,
  ): Promise<Outcome<string>> {
    return toOutcome(() => this.#partsFor(caller).approvals.answer(callId, answer));
  }

  answerClarification(
    caller: Caller,
    documentId: string,
    answer: ClarificationAnswer,
  ): Promise<Outcome<void>> {
    return toOutcome(() => {
      const { calls, recorder, reader } = this.#partsFor(caller);
      calls.questions.answer(documentId, answer, recorder.response ?? reader.newestBegun());
    });
  }

  giveResults(
    caller: Caller,
    ordinal: number,
    given: GivenResults,
    images?: WaitingPlace,
  ): Promise<Outcome<number>> {
    return toOutcome(async () => {
      this.#partsFor(caller);
      return await this.#withImages(given.said, images, () => {
        const { calls, inbox } = this.#partsFor(caller);
        const { sequence, isNew } = calls.settleClientCalls(ordinal, given);
        if (isNew) inbox.sayBehind(given.said);
        return sequence;
      });
    });
  }

  changePlan(caller: Caller, documentId: string, edit: PlanEdit): Promise<Outcome<Plan>> {
    return toOutcome(() => this.#partsFor(caller).plans.change(documentId, edit));
  }

  async holdImage(digest: string, piece: string): Promise<void> {
    if (this.#parts || this.#stone) return;
    if (!hasSchema(this.ctx.storage.sql)) {
      this.#store.prepare();
      await this.ctx.storage.setAlarm(Date.now() + HELD_LIMITS.waitMs);
    }
    this.#store.images.insert(digest, 0, piece);
  }

  imagePiece(digest: string): string | null {
    return hasSchema(this.ctx.storage.sql) ? this.#store.images.read(digest) : null;
  }

  async dropImages(): Promise<void> {
    if (!this.#parts && !this.#stone) await this.#sweep();
  }

  sendWhole(caller: Caller): Promise<Outcome<void>> {
    return toOutcome(() => this.#partsFor(caller).memory.sendWhole());
  }

  settle(callId: string, result: ToolResult): void {
    this.#parts?.calls.settle(callId, result);
    this.#parts?.agent?.worktree?.settle(callId, result);
  }

  output(callId: string, delta: string): void {
    this.#parts?.calls.output(callId, delta);
  }

  taskReport(callId: string, report: TaskReport): 'wanted' | 'over' | 'gone' {
    if (!this.#parts) return 'gone';
    const isWanted = this.#parts.children.take(callId, report);
    this.#parts.parentLink?.notify(); // Questions of subagents go up to the root.
    return isWanted ? 'wanted' : 'over';
  }

  remindTask(caller: Caller): Promise<Outcome<void>> {
    return toOutcome(() => {
      const { parentLink, runner } = this.#partsFor(caller);
      if (!parentLink) throw notFound('conversation');
      parentLink.remind();
      runner.advance();
    });
  }

  approvalRequested(callId: string, asked: ApprovalAsked): void {
    this.#parts?.approvals.requested(callId, asked);
    this.#parts?.parentLink?.notify();
  }

  approvalResolved(callId: string, resolution: ApprovalResolution): void {
    this.#parts?.approvals.resolved(callId, resolution);
    this.#parts?.parentLink?.notify();
    this.#parts?.runner.advance(); // The call has less time from now on: the alarm moves closer.
  }

  endSession(session: string): void {
    this.#followers.endSession(session);
  }

  halt(): void {
    const { log, runner } = this.#parts ?? {};
    for (const run of [...(log?.open ?? [])].reverse()) runner?.cancel(run);
    this.#followers.endSession(null);
  }

  dispatchAgain(): void {
    this.#parts?.runner.dispatchAgain();
    void this.#parts?.agent?.worktree?.close();
  }

  /** Serves what RPC cannot carry: followers' sockets, and documents of any size. */
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const isRead = url.pathname === READ_PATH;
    try {
      if (isRead) {
        const { caller, wanted } = parseReadRequest(url);
        await this.#findStone(caller);
        if (this.#stone?.owner === caller.account && wanted.type === 'newest') {
          return Response.json(viewOfStone(this.#stone));
        }
        return serveRead(this.#partsFor(caller), wanted, this.#store.images);
      }
      const wanted = parseFollowRequest(url);
      await this.#findStone(wanted.caller);
      return serveFollower(this.#partsFor(wanted.caller), this.#followers, wanted);
    } catch (error) {
      // A reader asks again when the object dies under the request, so it gets the exception. A follower gets an error
      // response, because it would retry for long.
      const isExpected = error instanceof DrawbridgeError;
      if (isRead && !isExpected) throw error;
      const trace = request.headers.get(TRACE_HEADER) ?? undefined;
      const conversation = this.#parts?.row.id;
      if (!isExpected) logEvent('follow_failed', { trace, conversation, error });
      const { status, body } = toWireError(storageFault(error) ?? error);
      return Response.json({ error: { ...body.error, traceId: trace } }, { status });
    }
  }

  override async alarm(): Promise<void> {
    if (this.#parts) await this.#parts.deadlines.fire();
    else if (!this.#stone) await this.#sweep();
  }

  override webSocketClose(socket: WebSocket): void {
    this.#followers.detach(socket);
    socket.close();
  }

  override webSocketMessage(): void {
    // Followers only listen.
  }

  async #copy(to: Caller, source: ForkSource): Promise<void> {
    try {
      const pages = pagesOf(this.env, to.account, source);
      const row = await takePages(this.ctx.storage, this.#store, to, source.from, pages, this.env);
      this.#store.create(row);
      this.#parts = this.#assemble(row, true);
      void this.#parts.deadlines.arm(); // For the account's list.
    } finally {
      this.#copying = null;
      if (!this.#parts) await this.ctx.storage.deleteAll();
    }
  }

  /** Deletes a private conversation's text, and keeps a row that says so. Throws where a subagent is out of reach. */
  async #bury(parts: Parts): Promise<void> {
    this.#stone ??= stoneOf(parts.listing.row, Date.now());
    this.#burying ??= (async () => {
      try {
        await parts.children.deleteAll();
        await parts.listing.report();
        if (this.#parts === parts) await this.#erase(parts, this.#stone);
      } finally {
        this.#burying = null;
      }
    })();
    await this.#burying;
  }

  /** Ends runs and alarm first: work under way must not write after the deletion. `stone` is the row that stays. */
  async #erase(
    { log, runner, deadlines, listing, agent, titles, activity, watch }: Parts,
    stone: ConversationRow | null = null,
  ): Promise<void> {
    this.#parts = null;
    this.#followers.close();
    titles.stop();
    deadlines.stop();
    agent?.stop();
    for (const run of [...log.open]) {
      try {
        runner.cancel(run);
      } catch (error) {
        watch.log('run_unended', run, { error }); // A run that fails to end must not prevent the deletion.
      }
    }
    await agent?.worktree?.remove();
    // The whole database file goes, with its free pages and its log, and not only its rows.
    const erased = this.ctx.storage.deleteAll();
    if (stone) this.#store.create(stone); // Without an await, so that nothing comes between the two.
    await erased;
    await Promise.all([listing.settled(), activity.report()]);
  }

  /** Deletes what an instance stored that died while it copied, or took images. */
  async #sweep(): Promise<void> {
    if (!this.#copying && this.#taking === 0) await this.ctx.storage.deleteAll();
  }

  /**
   * Takes the images of these messages, and then does `store`. Where that fails, the pieces go again that no other
   * message has found here meanwhile.
   */
  async #withImages<Stored>(
    said: readonly MessageContent[],
    place: WaitingPlace | undefined,
    store: () => Stored | Promise<Stored>,
  ): Promise<Stored> {
    const { storage } = this.ctx;
    const door = { env: this.env, storage, store: this.#store, parts: () => this.#parts };
    const taken: string[] = [];
    const found = this.#foundPieces;
    this.#taking += 1;
    try {
      await takeImages(door, said, place, { taken, found });
      return await store();
    } catch (error) {
      if (this.#parts) this.#store.images.delete(taken.filter((digest) => !found.has(digest)));
      else if (taken.length > 0 && this.#taking === 1 && !this.#stone && !this.#copying) {
        await storage.deleteAll();
      }
      throw error;
    } finally {
      this.#taking -= 1;
      if (this.#taking === 0) found.clear();
    }
  }

  #assemble(row: ConversationRow, stored: boolean): Parts {
    return assembleParts(row, stored, {
      env: this.env,
      storage: this.ctx.storage,
      store: this.#store,
      followers: this.#followers,
      meter: this.#meter,
      onEnd: (ordinal) => this.#ended(ordinal),
      onExpiry: async () => {
        const parts = this.#parts;
        if (!parts) return;
        if (parts.row.ephemeral) await this.#erase(parts);
        else await this.#bury(parts);
      },
      onOver: (isGone) => this.#over(isGone),
    });
  }

  /** Ends a subagent whose result no one waits for. */
  #over(isGone: boolean): void {
    if (!this.#parts) return;
    const { log, runner } = this.#parts;
    if (isGone) this.ctx.waitUntil(this.#erase(this.#parts));
    else for (const run of [...log.open]) runner.cancel(run);
  }

  #ended(ordinal: number): void {
    if (!this.#parts) return;
    const { row, log, listing, recorder, deadlines, titles, parentLink, agent } = this.#parts;
    parentLink?.notify();
    agent?.worktree?.ended(ordinal);
    if (row.ephemeral || row.deleteAfterHours !== null) void deadlines.arm();
    const asked = log.find(ordinal)?.request.messages.at(-1);
    const isFolded = recorder.response?.id === responseIdOf(row.id, ordinal);
    const response = isFolded ? recorder.response : null;
    listing.answered(
      ordinal,
      saidIn(textOf(asked?.content ?? ''), response),
      Date.now(),
      response ? { status: response.status, durationMs: response.metadata.duration_ms } : undefined,
    );
    titles.advance();
  }

  #doorFor({ account, conversationId }: Caller): TakingInDoor {
    return {
      env: this.env,
      parts: () => this.#parts,
      isCopying: () => this.#copying !== null,
      handsAt: (bridgeId, isPrivate) => {
        const of = { account, conversationId, bridgeId, isPrivate };
        return new TunnelHands(this.env, this.#meter, of);
      },
      create: (row) => this.#create(row),
    };
  }

  #create(row: ConversationRow): Parts {
    this.#store.create(row);
    if (!row.parent) this.#meter.count(1); // The account has noted it.
    const parts = this.#assemble(row, false);
    this.#parts = parts;
    // In the step that stores the conversation, so that a crash cannot leave an ephemeral conversation undeleted.
    if (row.ephemeral) void parts.deadlines.arm();
    return parts;
  }

  /** A crash can come between the end of the file and the row that stays. The account's list still has both in one. */
  async #findStone({ account, conversationId }: Caller): Promise<void> {
    const isEmpty = () => !this.#parts && !this.#stone && !hasSchema(this.ctx.storage.sql);
    if (!isEmpty()) return;
    const known = await reach<PrivateListing | null>(() =>
      accountOf(this.env, account).privateListing(conversationId),
    );
    if (!known || !isEmpty()) return;
    this.#stone = stoneOf(toListedRow({ account, conversationId }, known), Date.now());
    this.#store.create(this.#stone);
  }

  /** Throws CONTENT_DELETED where the text is deleted, or should be: the alarm can be late, after a sleep. */
  #requireText({ account }: Caller): void {
    const parts = this.#parts;
    if (parts && !parts.row.ephemeral && (lapsesAtMs(parts) ?? Infinity) <= Date.now()) {
      this.ctx.waitUntil(this.#bury(parts).catch(() => undefined)); // The alarm calls again.
    }
    if (this.#stone?.owner === account) throw contentDeleted(this.#stone);
  }

  #partsFor(caller: Caller): Parts {
    this.#requireText(caller);
    if (this.#parts?.row.owner !== caller.account) throw notFound('conversation');
    return this.#parts;
  }
}
