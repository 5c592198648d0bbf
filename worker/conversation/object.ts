/** The Durable Object of one conversation: the methods that the Worker and the tunnels call. Its parts do the work. */
import { DurableObject } from 'cloudflare:workers';
import type { Agent, WebhookDelivery } from '../../shared/api/agents.ts';
import type { Cancelled } from '../../shared/api/answers.ts';
import type { ConversationInfo, ConversationPatch } from '../../shared/api/conversations.ts';
import {
  type ApprovalRequest,
  type ClarificationAnswer,
  type MessageContent,
  textOf,
} from '../../shared/api/requests.ts';
import { DrawbridgeError, toWireError } from '../../shared/errors.ts';
import { responseIdOf } from '../../shared/ids.ts';
import { ACCOUNT_LIMITS } from '../../shared/limits.ts';
import type { OpenApproval, OpenQuestions } from '../../shared/wire/approvals.ts';
import type { ChatResponse, ConversationView } from '../../shared/wire/documents.ts';
import type { Plan, PlanEdit } from '../../shared/wire/plans.ts';
import type { RuleReports } from '../../shared/wire/rules.ts';
import { TRACE_HEADER } from '../../shared/wire/trace.ts';
import type { GuestCall, ToolResult } from '../../shared/wire/tunnel.ts';
import { newAgentRow, requireWorktrees } from '../agents/agent.ts';
import type { Env } from '../env.ts';
import { logEvent } from '../health/log.ts';
import { noteConversation } from '../health/open.ts';
import { type Outcome, toOutcome } from '../outcome.ts';
import type {
  ApprovalAsked,
  ApprovalResolution,
  Caller,
  ConversationPort,
  ForkPage,
  ForkPoint,
  ForkSource,
  PageStart,
  ResponseUsage,
  Submission,
  TaskReport,
} from '../ports.ts';
import { hasSchema } from '../storage/migrations.ts';
import { RowMeter } from '../storage/row-meter.ts';
import { answerClarification, waitingQuestions } from './calls/clarifications.ts';
import { TunnelHands } from './calls/hands.ts';
import { mentionsOf } from './calls/message-look.ts';
import { extentOf, pagesOf, takePages } from './fork/fork.ts';
import { readPage } from './fork/pages.ts';
import { guestPosted, isOfGuest } from './guest-message.ts';
import { newestSaid, saidIn } from './listing.ts';
import { assembleParts, type Parts } from './parts.ts';
import {
  type FollowRequest,
  parseFollowRequest,
  parseReadRequest,
  READ_PATH,
  type ReadRequest,
} from './reading/requests.ts';
import type { Chapter } from './reading/views.ts';
import { inWantedMode } from './run/own-mode.ts';
import type { ConversationRow, Run, RunRequest } from './store/rows.ts';
import { ConversationStore } from './store/statements.ts';
import { titleOf } from './store/title.ts';
import { Followers } from './tape/followers.ts';

/**
 * One conversation. The constructor writes only to migrate a stored conversation, so a request for an unknown id stores
 * nothing. Expected failures come back as {@link Outcome}. Every method that takes a caller checks the owner.
 */
export class Conversation extends DurableObject<Env> implements ConversationPort {
  readonly #meter = new RowMeter();
  readonly #store: ConversationStore;
  readonly #followers: Followers;
  #parts: Parts | null;
  /** Set while this object copies another conversation into itself. */
  #copying: Promise<void> | null = null;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#store = new ConversationStore(state.storage.sql, this.#meter);
    this.#followers = new Followers(state);
    const row = this.#store.readConversation();
    this.#parts = row && this.#assemble(row, true);
  }

  submit(caller: Caller, submission: Submission): Promise<Outcome<{ responseId: string }>> {
    return toOutcome(async () => {
      await this.#copying?.catch(() => undefined); // The caller of `fork` gets the error.
      if (!this.#parts && hasSchema(this.ctx.storage.sql)) await this.#sweep();
      const parts = this.#parts?.row.owner === caller.account ? this.#parts : null;
      if (!parts && (this.#parts || !submission.create)) throw notFound('conversation');
      if (parts && !submission.create) refuseSubagent(parts);
      if (parts && !submission.create) requireOwnBridge(parts, submission);
      const hands = parts?.hands ?? this.#handsOf(caller, submission.create?.bridgeId ?? null);
      const held = (digest: string) => parts?.log.heldOffers(digest);
      // A message that waits does not need the machine yet: its run looks when it starts. One that mentions something
      // waits too, because the look can take seconds. A mode of the workspace is looked for at once.
      const isBusy = parts?.log.current !== undefined && submission.delivery !== 'interrupt';
      const waits = isBusy || mentionsOf(submission.request).length > 0;
      const look = () => hands.look(held, waits ? null : submission.request);
      const mustLook = !waits || submission.request.wantedMode;
      const machine = mustLook ? await look().catch(() => undefined) : undefined;
      // With the alarm known, the step that stores the run also sets its alarm: a crash cannot leave a run without one.
      await parts?.deadlines.look();
      // One synchronous step from here on: of two simultaneous requests, the second one sees what the first one stored.
      const ordinal = this.#parts && repeated(this.#parts, submission.request)?.ordinal;
      if (ordinal) return { responseId: responseIdOf(caller.conversationId, ordinal) };
      if (submission.create && (this.#parts || this.#copying)) throw keyTaken();
      if (machine !== undefined) inWantedMode(submission.request, machine, this.env);
      const isNew = !this.#parts;
      if (isNew) requireWorktrees(submission.create?.agent, machine);
      const { inbox, listing, plans, agent } = this.#parts ?? this.#create(caller, submission);
      const asked = plans.requestOf(submission);
      const request = agent?.placed(asked) ?? asked;
      const responseId = inbox.take({ ...submission, request }, waits ? undefined : machine);
      // Listed only after it is stored, so the account never lists a conversation that does not exist.
      if (isNew) await listing.begin();
      return { responseId };
    });
  }

  takeGuestCall(
    caller: Caller,
    bridgeId: string,
    call: GuestCall,
  ): Promise<Outcome<{ responseId: string }>> {
    const { log } = this.#parts ?? {};
    if (log && !isOfGuest(log)) return toOutcome(() => Promise.reject(notFound('conversation')));
    const titled = { title: titleOf(call.title), isTitled: true };
    const create = log ? null : { bridgeId, ...titled, ephemeral: false };
    return this.submit(caller, { ...guestPosted(call, Date.now()), bridgeId, create });
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

  cancel(caller: Caller, ordinal: number): Promise<Outcome<Cancelled>> {
    return toOutcome(() => {
      const parts = this.#partsFor(caller);
      const run = runOf(parts, ordinal);
      if (run.last === null) parts.runner.cancel(run);
      const { id, status } = parts.reader.response(runOf(parts, ordinal));
      return { id, status };
    });
  }

  edit(caller: Caller, ordinal: number, content: MessageContent): Promise<Outcome<Cancelled>> {
    return toOutcome(() => {
      const { inbox, reader, ...parts } = this.#partsFor(caller);
      const run = runOf(parts, ordinal);
      if (!inbox.edit(run, content)) {
        throw new DrawbridgeError('ALREADY_STARTED', 'The message is no longer waiting');
      }
      const { id, status } = reader.response(run);
      return { id, status };
    });
  }

  find(caller: Caller, ordinal: number | null): Promise<Outcome<void>> {
    return toOutcome(() => {
      const parts = this.#partsFor(caller);
      if (ordinal !== null) runOf(parts, ordinal);
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
      const parts = this.#partsFor(caller);
      const isOther = parent !== undefined && parts.row.parent?.conversationId !== parent;
      if (isOther) throw notFound('conversation');
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
      if (!this.#parts) this.#copying ??= this.#copy(caller, source);
      await this.#copying;
      this.#partsFor(caller);
    });
  }

  forkPage(caller: Caller, point: ForkPoint, start: PageStart): Promise<Outcome<ForkPage>> {
    return toOutcome(() => {
      const parts = this.#partsFor(caller);
      runOf(parts, point.ordinal);
      const extent = extentOf(parts.log, this.#store.runs, point);
      const { bridge, title } = parts.listing.row;
      const page = readPage(this.ctx.storage.sql, extent, start);
      return { ...page, bridge, title, ordinal: extent.ordinal };
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
      const { log, calls, recorder, reader } = this.#partsFor(caller);
      const response = recorder.response ?? reader.newestBegun();
      answerClarification({ log, calls, response }, documentId, answer);
    });
  }

  changePlan(caller: Caller, documentId: string, edit: PlanEdit): Promise<Outcome<Plan>> {
    return toOutcome(() => this.#partsFor(caller).plans.change(documentId, edit));
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
    this.#parts.parentLink?.tell(); // Questions of subagents go up to the root.
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
    this.#parts?.parentLink?.tell();
  }

  approvalResolved(callId: string, resolution: ApprovalResolution): void {
    this.#parts?.approvals.resolved(callId, resolution);
    this.#parts?.parentLink?.tell();
    this.#parts?.runner.advance(); // The call has less time from now on: the alarm moves closer.
  }

  /** Serves what RPC cannot carry: followers' sockets, and documents of any size. */
  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const isRead = url.pathname === READ_PATH;
    try {
      return isRead ? this.#read(parseReadRequest(url)) : this.#follow(parseFollowRequest(url));
    } catch (error) {
      // A reader asks again when the object dies under the request, so it gets the exception. A follower gets an error
      // response, because it would retry for long.
      const isExpected = error instanceof DrawbridgeError;
      if (isRead && !isExpected) throw error;
      const trace = request.headers.get(TRACE_HEADER) ?? undefined;
      const conversation = this.#parts?.row.id;
      if (!isExpected) logEvent('follow_failed', { trace, conversation, error });
      const { status, body } = toWireError(error);
      return Response.json({ error: { ...body.error, traceId: trace } }, { status });
    }
  }

  override async alarm(): Promise<void> {
    if (this.#parts) await this.#parts.deadlines.fire();
    else await this.#sweep();
  }

  override webSocketClose(socket: WebSocket): void {
    this.#followers.detach(socket);
    this.#note();
    socket.close();
  }

  override webSocketMessage(): void {
    // Followers only listen.
  }

  /**
   * Answers a read, and resumes a run that an earlier instance left: without this, the run may wait a minute for its
   * alarm.
   */
  #read({ caller, wanted }: ReadRequest): Response {
    const parts = this.#partsFor(caller);
    const answer = Response.json(documentOf(parts, wanted));
    parts.runner.advance();
    return answer;
  }

  /**
   * Opens a WebSocket that gets the past events and then the live ones. 204 when the reader has seen the whole
   * response.
   */
  #follow({ caller, following, ordinal, cursor }: FollowRequest): Response {
    const parts = this.#partsFor(caller);
    const run = ordinal === null ? null : runOf(parts, ordinal);
    const past = parts.reader.past(following, run, cursor);
    if (run && run.last !== null && cursor >= run.last) return new Response(null, { status: 204 });
    const { 0: client, 1: server } = new WebSocketPair();
    this.#followers.attach(server, following, past);
    this.#note();
    parts.runner.advance();
    return new Response(null, { status: 101, webSocket: client });
  }

  #create({ account, conversationId }: Caller, { create }: Submission): Parts {
    if (!create) throw notFound('conversation'); // The conversation was deleted while its bridge was asked.
    const { bridgeId, title, ephemeral, agent, isTitled, parent } = create;
    const row: ConversationRow = {
      id: conversationId,
      owner: account,
      bridge: bridgeId,
      created: new Date().toISOString(),
      title,
      archived: false,
      ephemeral,
      ...(agent && { agent: newAgentRow(agent) }),
      titleAttempts: ephemeral || isTitled || parent ? null : 0,
      ...(parent && { parent }),
    };
    this.#store.create(row);
    const parts = this.#assemble(row, false);
    this.#parts = parts;
    // In the step that stores the conversation, so that a crash cannot leave an ephemeral conversation undeleted.
    if (ephemeral) void parts.deadlines.arm();
    return parts;
  }

  async #copy(to: Caller, source: ForkSource): Promise<void> {
    try {
      const pages = pagesOf(this.env, to.account, source);
      const row = await takePages(this.ctx.storage, this.#store, to, pages);
      this.#store.create(row);
      this.#parts = this.#assemble(row, true);
    } finally {
      this.#copying = null;
      if (!this.#parts) await this.ctx.storage.deleteAll();
    }
    const { listing, reader } = this.#parts;
    listing.answered(newestSaid(reader.views.back(), ACCOUNT_LIMITS.maxSearchChars), Date.now());
    await listing.settled();
  }

  /** Ends every run and stops the alarm first, so that work under way cannot write after the deletion. */
  async #erase({
    row,
    log,
    runner,
    deadlines,
    listing,
    agent,
    titles,
    waits,
    watch,
  }: Parts): Promise<void> {
    this.#parts = null;
    this.#followers.close();
    titles.stop();
    deadlines.stop();
    agent?.stop();
    for (const run of [...log.open]) {
      try {
        runner.cancel(run);
      } catch (error) {
        watch.tell('run_unended', run, { error }); // A run that fails to end must not prevent the deletion.
      }
    }
    noteConversation(row.id, null);
    await agent?.worktree?.remove();
    await this.ctx.storage.deleteAll();
    await Promise.all([listing.settled(), waits.report()]);
  }

  /** Deletes what an instance stored that died while it copied. */
  async #sweep(): Promise<void> {
    if (!this.#copying) await this.ctx.storage.deleteAll();
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
        if (this.#parts) await this.#erase(this.#parts);
      },
      onOver: (isGone) => this.#over(isGone),
      onChange: () => this.#note(),
    });
  }

  /** Tells the metrics what is open here. */
  #note(): void {
    if (!this.#parts) return;
    const { row, log, recorder } = this.#parts;
    const { phase } = log;
    const isWaiting = recorder.response?.status === 'waiting';
    const isAtWork = phase.type === 'asking' || phase.type === 'awaiting_tools';
    noteConversation(row.id, {
      followers: this.#followers.count,
      queued: log.open.filter(({ status }) => status === 'queued').length,
      state: isAtWork ? (isWaiting ? 'waiting' : phase.type) : null,
    });
  }

  /** Ends a subagent whose result nobody waits for. */
  #over(isGone: boolean): void {
    if (!this.#parts) return;
    const { log, runner } = this.#parts;
    if (isGone) this.ctx.waitUntil(this.#erase(this.#parts));
    else for (const run of [...log.open]) runner.cancel(run);
  }

  #ended(ordinal: number): void {
    if (!this.#parts) return;
    const { row, log, listing, recorder, deadlines, titles, parentLink, agent } = this.#parts;
    parentLink?.tell();
    agent?.worktree?.ended(ordinal);
    if (row.ephemeral) void deadlines.arm();
    const asked = log.find(ordinal)?.request.messages.at(-1);
    const isFolded = recorder.response?.id === responseIdOf(row.id, ordinal);
    listing.answered(
      saidIn(textOf(asked?.content ?? ''), isFolded ? recorder.response : null),
      Date.now(),
    );
    titles.advance();
  }

  #handsOf({ account, conversationId }: Caller, bridgeId: string | null): TunnelHands {
    return new TunnelHands(this.env, this.#meter, { account, conversationId, bridgeId });
  }

  #partsFor(caller: Caller): Parts {
    if (this.#parts?.row.owner !== caller.account) throw notFound('conversation');
    return this.#parts;
  }
}

/** The same answer for an id that does not exist and for one that belongs to another account. */
function notFound(what: 'conversation' | 'response' | 'agent'): DrawbridgeError {
  return new DrawbridgeError('NOT_FOUND', `There is no such ${what}`);
}

/** A subagent answers the agent that started it, and nobody else. */
function refuseSubagent({ row: { parent } }: Pick<Parts, 'row'>): void {
  if (!parent) return;
  throw new DrawbridgeError(
    'INVALID_REQUEST',
    `conversationId: a subagent works in this conversation, which belongs to ${parent.conversationId}: write there, or fork this one`,
  );
}

/** A message may name the conversation's bridge, and cannot move the conversation to another one. */
function requireOwnBridge(
  { row: { bridge } }: Parts,
  { bridgeId: asked, standsAt }: Pick<Submission, 'bridgeId' | 'standsAt'>,
): void {
  if (asked === undefined && bridge !== null && standsAt !== undefined && standsAt !== bridge) {
    throw new DrawbridgeError(
      'INVALID_REQUEST',
      `bridgeId: this conversation works at ${bridge}, and the token is for another folder: use one of that folder, or name the bridge`,
    );
  }
  if (asked === undefined || asked === bridge) return;
  const kept =
    bridge === null ? 'began without a bridge' : `keeps the bridge it began with, ${bridge}`;
  throw new DrawbridgeError(
    'INVALID_REQUEST',
    `bridgeId: this conversation ${kept}: leave the field out, or begin a new conversation`,
  );
}

/** The document that a {@link ReadRequest} asks for. */
function documentOf(
  parts: Parts,
  wanted: ReadRequest['wanted'],
):
  | ChatResponse
  | ConversationView
  | Chapter
  | readonly OpenApproval[]
  | readonly OpenQuestions[]
  | RuleReports {
  const { reader, approvals, listing, memory, recorder } = parts;
  switch (wanted.type) {
    case 'response':
      return reader.response(runOf(parts, wanted.ordinal));
    case 'newest':
      if (wanted.newest.before !== null) runOf(parts, wanted.newest.before);
      return reader.views.newest(wanted.newest);
    case 'chapter':
      return reader.views.chapter(wanted.from);
    case 'approvals':
      return approvals.open(listing.row);
    case 'questions':
      return waitingQuestions(listing.row, recorder.response);
    case 'rules':
      return memory.reportRules();
  }
}

function agentOf({ agent }: Pick<Parts, 'agent'>): NonNullable<Parts['agent']> {
  if (!agent) throw notFound('agent');
  return agent;
}

function runOf({ log }: Pick<Parts, 'log'>, ordinal: number): Run {
  const run = log.find(ordinal);
  if (!run) throw notFound('response');
  return run;
}

/**
 * The run that an earlier request with the same Idempotency-Key led to. Throws IDEMPOTENCY_CONFLICT for a different
 * request.
 */
function repeated({ log }: Parts, { idempotency }: RunRequest): Run | undefined {
  const known = idempotency && log.findByKey(idempotency.key);
  if (!known || known.digest === idempotency.digest) return known?.run;
  throw keyTaken();
}

/** Also thrown when the id of a new conversation is taken: only a reused key makes the same id twice. */
function keyTaken(): DrawbridgeError {
  return new DrawbridgeError(
    'IDEMPOTENCY_CONFLICT',
    'This Idempotency-Key was used for another request: use a new one',
  );
}
