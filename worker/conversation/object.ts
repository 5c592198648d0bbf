/** The Durable Object of one conversation: what may be asked of it. The work is done by the parts it puts together. */
import { DurableObject } from 'cloudflare:workers';
import type { ChatResponse, ConversationView } from '../../shared/documents.ts';
import { DrawbridgeError, toWireError } from '../../shared/errors.ts';
import { MAX_RESPONSES, responseIdOf } from '../../shared/ids.ts';
import type { ApprovalRequest } from '../../shared/requests.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import type { Env } from '../env.ts';
import { type Outcome, toOutcome } from '../outcome.ts';
import { resolveTarget } from '../upstream/models.ts';
import { type ApprovalResolution, Approvals } from './approvals.ts';
import { type FollowRequest, parseFollowRequest } from './follow-request.ts';
import { Followers } from './followers.ts';
import { TunnelHands } from './hands.ts';
import { TapeReader } from './reader.ts';
import { Recorder } from './recorder.ts';
import type { ConversationRow, Run, RunRequest } from './rows.ts';
import { RunLog } from './run-log.ts';
import { Runner } from './runner.ts';
import { Schedule } from './schedule.ts';
import { ConversationStore } from './statements.ts';
import { Tape } from './tape.ts';

/** Who asks, and of which conversation; both come from the Worker, which has checked the token. */
export interface Caller {
  readonly account: string;
  readonly conversationId: string;
}

/** A message for a conversation that may not exist yet. */
export interface Submission {
  readonly request: RunRequest;
  readonly device: string | undefined;
  readonly delivery: 'queue' | 'reject';
  /** For a new conversation: its bridge, or null. An existing one keeps its own. */
  readonly create: { readonly bridgeId: string | null } | null;
}

/** What an existing conversation consists of, in memory. */
interface Parts {
  readonly row: ConversationRow;
  readonly log: RunLog;
  readonly reader: TapeReader;
  readonly runner: Runner;
  readonly approvals: Approvals;
  readonly hands: TunnelHands;
}

/**
 * One conversation. Its constructor only reads, so that asking for an unknown id stores nothing. Expected failures
 * come back as {@link Outcome}; every method checks the owner.
 */
export class Conversation extends DurableObject<Env> {
  readonly #store: ConversationStore;
  readonly #followers: Followers;
  readonly #schedule: Schedule;
  #parts: Parts | null;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#store = new ConversationStore(state.storage.sql);
    this.#followers = new Followers(state);
    this.#schedule = new Schedule(state.storage);
    const row = this.#store.readConversation();
    this.#parts = row && this.#assemble(row, true);
  }

  /** Appends a message and answers it; returns as soon as both are stored. */
  submit(caller: Caller, submission: Submission): Promise<Outcome<{ responseId: string }>> {
    return toOutcome(async () => {
      const parts = this.#parts?.row.owner === caller.account ? this.#parts : null;
      if (!parts && (this.#parts || !submission.create)) throw notFound('conversation');
      const hands = parts?.hands ?? this.#handsOf(caller, submission.create?.bridgeId ?? null);
      const machine = await hands.describe().catch(() => undefined);
      return {
        responseId: this.#submitTo(
          this.#parts ?? this.#create(caller, submission),
          submission,
          machine,
        ),
      };
    });
  }

  view(caller: Caller): Promise<Outcome<ConversationView>> {
    return toOutcome(() => this.#partsFor(caller).reader.view());
  }

  response(caller: Caller, ordinal: number): Promise<Outcome<ChatResponse>> {
    return toOutcome(() => {
      const parts = this.#partsFor(caller);
      return parts.reader.response(runOf(parts, ordinal));
    });
  }

  /** Idempotent: a response that has ended stays as it ended. */
  cancel(caller: Caller, ordinal: number): Promise<Outcome<ChatResponse>> {
    return toOutcome(() => {
      const parts = this.#partsFor(caller);
      runOf(parts, ordinal);
      parts.runner.cancel(ordinal);
      return parts.reader.response(runOf(parts, ordinal));
    });
  }

  answerApproval(caller: Caller, callId: string, answer: ApprovalRequest): Promise<Outcome<void>> {
    return toOutcome(() => this.#partsFor(caller).approvals.answer(callId, answer));
  }

  /** From the tunnel. The first result of a call wins; when this returns it is stored. */
  settle(callId: string, result: ToolResult): void {
    this.#parts?.runner.settle(callId, result);
  }

  /** From the tunnel: live output of a call. */
  output(callId: string, delta: string): void {
    this.#parts?.runner.output(callId, delta);
  }

  /** From the tunnel: the bridge asks a person. */
  approvalRequested(callId: string, reason: string): void {
    this.#parts?.approvals.requested(callId, reason);
  }

  /** From the tunnel: a question is settled, here or at the machine. */
  approvalResolved(callId: string, resolution: ApprovalResolution): void {
    this.#parts?.approvals.resolved(callId, resolution);
  }

  /** A follower: a WebSocket that is sent the past and then what happens. 204 when a response was seen to its end. */
  override async fetch(request: Request): Promise<Response> {
    try {
      return this.#follow(parseFollowRequest(new URL(request.url)));
    } catch (error) {
      const { status, body } = toWireError(error);
      return Response.json(body, { status });
    }
  }

  override async alarm(): Promise<void> {
    this.#schedule.fired();
    const { log, runner } = this.#parts ?? {};
    if (!log || !runner || log.phase.type === 'idle') return;
    await this.#schedule.ensure(log.nextLookMs(Date.now()));
    runner.advance();
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  override webSocketMessage(): void {
    // Followers only listen.
  }

  #follow({ caller, following, ordinal, cursor }: FollowRequest): Response {
    const parts = this.#partsFor(caller);
    const run = ordinal === null ? null : runOf(parts, ordinal);
    const past = parts.reader.past(following, run, cursor);
    if (run && run.last !== null && cursor >= run.last) return new Response(null, { status: 204 });
    const { 0: client, 1: server } = new WebSocketPair();
    this.#followers.attach(server, following, past);
    parts.runner.advance();
    return new Response(null, { status: 101, webSocket: client });
  }

  #submitTo(parts: Parts, submission: Submission, machine: Run['machine'] | undefined): string {
    const { log, runner, row } = parts;
    const ordinal = (log.runs.at(-1)?.ordinal ?? 0) + 1;
    if (ordinal > MAX_RESPONSES)
      throw new DrawbridgeError('CONVERSATION_FULL', 'Start a new conversation');
    if (log.current && submission.delivery === 'reject') {
      throw new DrawbridgeError(
        'CONVERSATION_BUSY',
        'The conversation is answering another message',
      );
    }
    const responseId = responseIdOf(row.id, ordinal);
    const { request, device } = submission;
    runner.submit(
      {
        responseId,
        content: request.messages.at(-1)?.content ?? '',
        created: new Date(request.createdMs).toISOString(),
        ...(device !== undefined && { device }),
      },
      ordinal,
      request,
      machine,
    );
    return responseId;
  }

  #create(caller: Caller, { create }: Submission): Parts {
    const row = {
      id: caller.conversationId,
      owner: caller.account,
      bridge: create?.bridgeId ?? null,
      created: new Date().toISOString(),
    };
    this.#store.create(row);
    this.#parts = this.#assemble(row, false);
    return this.#parts;
  }

  #assemble(row: ConversationRow, stored: boolean): Parts {
    const log = new RunLog(this.#store, stored);
    const tape = new Tape(this.#store, stored);
    const recorder = new Recorder(tape, this.#followers, log.current?.started ?? null);
    const hands = this.#handsOf({ account: row.owner, conversationId: row.id }, row.bridge);
    const runner = new Runner({
      conversationId: row.id,
      log,
      recorder,
      schedule: this.#schedule,
      hands,
      target: resolveTarget(this.env),
      head: () => tape.head,
      now: () => Date.now(),
      newUuid: () => crypto.randomUUID(),
    });
    const approvals = new Approvals(log, recorder, hands);
    return { row, log, reader: new TapeReader(row, tape, log), runner, approvals, hands };
  }

  #handsOf({ account, conversationId }: Caller, bridgeId: string | null): TunnelHands {
    return new TunnelHands(this.env.TUNNELS, { account, conversationId, bridgeId });
  }

  #partsFor(caller: Caller): Parts {
    if (this.#parts?.row.owner !== caller.account) throw notFound('conversation');
    return this.#parts;
  }
}

/** The same answer for what does not exist and for what belongs to someone else. */
function notFound(what: 'conversation' | 'response'): DrawbridgeError {
  return new DrawbridgeError('NOT_FOUND', `There is no such ${what}`);
}

function runOf({ log }: Parts, ordinal: number): Run {
  const run = log.runs.find((other) => other.ordinal === ordinal);
  if (!run) throw notFound('response');
  return run;
}
