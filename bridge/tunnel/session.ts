/** Takes calls and sends results. Runs each call once, across any number of connections and processes. */

import { aboutCall, logEvent, logTrouble } from '../../machine/log.ts';
import type { LogIds } from '../../machine/log-line.ts';
import type { Feed, GuestCalls, OpenQuestion, Resolution } from '../../packages/host/index.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import type { ApprovalQuestion } from '../../shared/wire/approvals.ts';
import { nameFor } from '../../shared/wire/grants.ts';
import {
  type ApprovalAnswer,
  type BridgeFrame,
  failure,
  type ToolCall,
  type ToolResult,
  type TunnelFrame,
} from '../../shared/wire/tunnel.ts';
import type { DeviceAsker } from '../admission/askers.ts';

import { CallLife, type Desk } from '../admission/call-life.ts';
import { UNKNOWN_OUTCOME } from '../admission/refusals.ts';
import type { Audit } from '../grantees/audit.ts';
import { NOT_GRANTED } from '../grantees/grantees.ts';
import { GRANTEE_LIMITS } from '../grantees/limits.ts';
import type { Journal } from './journal.ts';
import { LINK_LIMITS } from './limits.ts';
import { CANCELLED, ENDED, fitFrame, fitText } from './results.ts';

export interface SessionMachine extends Desk {
  readonly devices: DeviceAsker;
  readonly journal: Journal;
  /** Send frames of their own. */
  readonly feeds: readonly Feed[];
  readonly guests: GuestCalls;
  /** Gets the end of each call of another account than the owner's. */
  readonly audit: Pick<Audit, 'note'>;
  readonly answers: Answers;
}

/** A frame by which the edge asks for something beside calls. */
type AskFrame = Extract<
  TunnelFrame,
  { type: 'look' | 'processes' | 'enrol' | 'files' | 'policy' | 'offers_wanted' }
>;

/**
 * Answers each kind of question with a frame, or with nothing. It goes over the connection of that moment: a late answer
 * is still useful for the next run. Rejects only when the bridge ends, or where the folder cannot be read.
 */
export type Answers = {
  readonly [Type in AskFrame['type']]: (
    ask: Extract<AskFrame, { type: Type }>,
  ) => Promise<BridgeFrame | undefined>;
};

/** A call that was taken and has no result yet. */
interface RunningCall {
  readonly controller: AbortController;
  /** Never rejects. */
  readonly done: Promise<void>;
  readonly grantee: string | undefined;
  /** The end of the call's question, to be sent again: a connection may have lost it. */
  resolved?: Resolved;
}

type Resolved = Extract<BridgeFrame, { type: 'approval_resolved' }>;

/**
 * Owns the running calls. A call runs once, however often it arrives. A result that its connection has lost stays in
 * the journal until the tunnel acks it.
 */
export class CallSession {
  readonly #machine: SessionMachine;
  readonly #calls: CallLife;
  readonly #running = new Map<string, RunningCall>();
  /** Sends a frame now or not at all. Everything important is sent again after the next welcome. */
  #send: ((frame: BridgeFrame) => void) | null = null;
  #credit = 0;
  /** The calls of private conversations, until they are forgotten. */
  readonly #private = new Set<string>();

  constructor(machine: SessionMachine) {
    this.#machine = machine;
    this.#calls = new CallLife(machine);
  }

  /** A connection is open. Frames go there until {@link detach}. */
  attach(send: (frame: BridgeFrame) => void): void {
    this.#send = send;
    this.#credit = LINK_LIMITS.outputCredit;
  }

  detach(): void {
    this.#send = null;
    for (const feed of this.#machine.feeds) feed.lost();
  }

  /** Shows the edge that a person is asked about a call. */
  sendQuestion({ question, reason, edited, lasting }: OpenQuestion): void {
    const { callId, nonce, proposal } = question;
    const asked = { callId, nonce, proposal, reason: fitText(reason), ...(lasting && { lasting }) };
    const newText = edited?.newText;
    const isShort = newText !== undefined && newText.length <= REQUEST_LIMITS.maxAmendedChars;
    this.#send?.({ type: 'approval_request', ...asked, ...(isShort && { newText }) });
  }

  /** Reports that an answer did not count. Its question is still open. */
  sendRefusal({ callId, nonce }: ApprovalAnswer, why: string): void {
    this.#send?.({ type: 'approval_refused', callId, nonce, message: fitText(why) });
  }

  /** Reports the end of a question about a call. */
  sendResolution(
    { callId, nonce }: Pick<ApprovalQuestion, 'callId' | 'nonce'>,
    resolution: Resolution,
  ): void {
    const { message, content: _, pattern: __, ...rest } = resolution;
    const said = message === undefined ? {} : { message: fitText(message) };
    const resolved: Resolved = { type: 'approval_resolved', callId, nonce, ...rest, ...said };
    const work = this.#running.get(callId);
    if (work) work.resolved = resolved;
    this.#send?.(resolved);
  }

  receive(frame: TunnelFrame): void {
    switch (frame.type) {
      case 'welcome':
        return this.#resume(frame);
      case 'call':
        return this.#take(frame.call);
      case 'ack':
        return this.#forget(frame.callId);
      case 'cancel':
        return this.#cancel(frame.callId);
      case 'approval':
        void this.#machine.devices.answer(frame.answer);
        return;
      case 'credit':
        this.#credit = Math.min(this.#credit + frame.chars, LINK_LIMITS.outputCredit);
        return;
      case 'goodbye':
        return; // The close that follows decides about the connection.
      default:
        void this.#answer(frame);
    }
  }

  /**
   * Ends all running calls, for the end of the process, and returns when all are over. A call that was not started
   * gets no result: the next process takes it from the start, question included.
   */
  async end(): Promise<void> {
    this.detach();
    this.#machine.guests.end();
    const work = [...this.#running.values()];
    for (const { controller } of work) controller.abort(ENDING);
    await Promise.all(work.map(({ done }) => done));
  }

  /** Ends the calls of the accounts that none of the names lets in. */
  endGrants(names: readonly string[]): void {
    for (const { grantee, controller } of this.#running.values()) {
      if (grantee === undefined || nameFor(grantee, names) !== undefined) continue;
      controller.abort(UNGRANTED);
    }
  }

  /** Ends a call of this process, if it runs. */
  cancel(callId: string): void {
    this.#running.get(callId)?.controller.abort(new Error('cancelled'));
  }

  #resume({ calls, cancels, answers }: Extract<TunnelFrame, { type: 'welcome' }>): void {
    const { asking, devices } = this.#machine;
    for (const feed of this.#machine.feeds) feed.welcomed((frame) => this.#send?.(frame));
    const answered = new Set(answers.map(({ nonce }) => nonce));
    for (const callId of cancels) this.#cancel(callId);
    for (const { resolved } of this.#running.values()) if (resolved) this.#send?.(resolved);
    // A question whose answer is here need not be sent. Calls taken below send their questions themselves.
    for (const open of asking.pending) {
      if (!answered.has(open.question.nonce)) this.sendQuestion(open);
    }
    for (const call of calls) this.#take(call);
    for (const answer of answers) void devices.answer(answer);
  }

  /** The journal's state of a call decides whether the call runs. */
  #take(call: ToolCall): void {
    const { callId } = call;
    if (call.isPrivate) this.#private.add(callId);
    if (this.#running.has(callId)) return;
    const known = this.#machine.journal.lookup(callId);
    switch (known.state) {
      case 'finished':
        return this.#send?.({ type: 'result', callId, result: known.result });
      case 'interrupted':
        if (known.repeatable || known.change) return this.#begin(call);
        return this.#finish(callId, UNKNOWN_OUTCOME);
      case 'running': // Not of this session: the journal refuses to start it again.
      case 'unknown':
        return this.#begin(call);
      default:
        known satisfies never;
    }
  }

  #begin(call: ToolCall): void {
    const controller = new AbortController();
    const done = aboutCall(idsOf(call), () => this.#run(call, controller.signal));
    this.#running.set(call.callId, { controller, done, grantee: call.grantee });
  }

  async #run(call: ToolCall, signal: AbortSignal): Promise<void> {
    const { callId } = call;
    const startedAt = performance.now();
    const result = await this.#resultOf(call, signal);
    this.#running.delete(callId);
    if (result === null) return;
    const duration_ms = Math.round(performance.now() - startedAt);
    logEnd(call, result, duration_ms);
    this.#audit(call, result);
    this.#finish(callId, fitFrame({ ...result, metadata: { duration_ms, ...result.metadata } }));
  }

  /** Null for a call that the next process takes up: one that was not started, or a change to a file. */
  async #resultOf(call: ToolCall, signal: AbortSignal): Promise<ToolResult | null> {
    const { guests } = this.#machine;
    try {
      const closed = guests.closed(call.callId);
      if (closed) return await closed;
      const onOutput = (delta: string) => this.#output(call.callId, delta);
      return await this.#calls.run(call, { signal, onOutput });
    } catch (error) {
      if (!signal.aborted) return failed(call, error);
      if (signal.reason === UNGRANTED) return failure('NOT_GRANTED', NOT_GRANTED);
      if (signal.reason !== ENDING) return (await guests.closed(call.callId)) ?? CANCELLED;
      const known = this.#machine.journal.lookup(call.callId);
      return known.state === 'running' && known.change === undefined ? ENDED : null;
    }
  }

  #finish(callId: string, result: ToolResult): void {
    this.#machine.journal.finish(callId, result);
    this.#machine.guests.ended(callId, result);
    this.#send?.({ type: 'result', callId, result });
  }

  #audit(call: ToolCall, result: ToolResult): void {
    const { grantee: account, conversationId: conversation, callId, tool } = call;
    if (account === undefined) return;
    const subject = call.isPrivate ? undefined : this.#subjectOf(call);
    const outcome = result.status === 'success' ? 'success' : result.code;
    const ids = { account, conversation, call: callId, tool: fitText(tool) };
    this.#machine.audit.note({ type: 'call', ...ids, subject, outcome });
  }

  /** Undefined for a call that names no tool of this bridge, or whose arguments are wrong. */
  #subjectOf({ tool, arguments: args, conversationId }: ToolCall): string | undefined {
    try {
      const subject = this.#machine.rooms.workspace.tools.get(tool)?.read(args, conversationId)
        .subjects[0];
      return subject?.slice(0, GRANTEE_LIMITS.maxSubjectChars).toWellFormed();
    } catch {
      return undefined;
    }
  }

  /** An ack is for a result. A running call has none yet, and its journal entries are still needed. */
  #forget(callId: string): void {
    if (this.#running.has(callId)) return;
    this.#machine.journal.forget(callId, this.#private.delete(callId));
    this.#machine.guests.refused(callId);
  }

  #cancel(callId: string): void {
    const work = this.#running.get(callId);
    if (work) return work.controller.abort(new Error('cancelled'));
    const known = this.#machine.journal.lookup(callId);
    if (known.state === 'finished') {
      return this.#send?.({ type: 'result', callId, result: known.result });
    }
    const { wasRestored } = this.#machine.journal;
    const mayHaveActed = wasRestored || (known.state === 'interrupted' && !known.repeatable);
    this.#finish(callId, mayHaveActed ? UNKNOWN_OUTCOME : CANCELLED);
  }

  async #answer<Ask extends AskFrame>(ask: Ask): Promise<void> {
    const { answers } = this.#machine;
    // The compiler does not see that the answer belongs to the type of the question.
    const answer = answers[ask.type] as (ask: Ask) => Promise<BridgeFrame | undefined>;
    try {
      const frame = await answer(ask);
      if (frame) this.#send?.(frame);
    } catch (error) {
      const conversation = ask.type === 'look' ? ask.message?.conversationId : undefined;
      const about = { event: 'workspace_unread', conversation } as const;
      logTrouble(about, 'The workspace could not be read', error);
    }
  }

  /** Drops live output, and never queues it, without a connection or when the other end is too slow. */
  #output(callId: string, delta: string): void {
    if (this.#send === null || delta.length > this.#credit) return;
    this.#credit -= delta.length;
    this.#send?.({ type: 'output', callId, delta });
  }
}

/** The abort reason for the end of the process, as opposed to a cancelled call. */
const ENDING = new Error('the bridge is ending');

/** The abort reason for the calls of an account that the machine no longer lets in. */
const UNGRANTED = new Error('the grant has ended');

/** Enough to find the place. */
const MAX_LOGGED_FRAMES = 6;

function idsOf({ conversationId: conversation, run, callId: call, trace }: ToolCall): LogIds {
  return { conversation, run, call, trace };
}

/** For the log file alone: a person at the terminal sees what becomes of a call where they chat. */
function logEnd(call: ToolCall, result: ToolResult, durationMs: number): void {
  const { status } = result;
  const code = status === 'error' ? result.code : undefined;
  logEvent({ event: 'call_ended', ...idsOf(call), tool: call.tool, status, code, durationMs });
}

/** A bug in a tool: its error goes to this machine's log, not to the model. */
function failed(call: ToolCall, error: unknown): ToolResult {
  const { tool, callId, trace } = call;
  const ids = trace === undefined ? callId : `${callId}, trace ${trace}`;
  const { name, stack } =
    error instanceof Error ? error : { name: typeof error, stack: String(error) };
  const at = [...(stack ?? '').matchAll(/^ +at (.*)$/gm)].map(([, frame = '']) => frame);
  const entry = { event: 'tool_failed', ...idsOf(call), tool, code: 'TOOL_FAILED' } as const;
  const place = { error: name, at: at.slice(0, MAX_LOGGED_FRAMES) };
  logEvent({ ...entry, ...place }, `${tool} (${ids}) failed: ${stack}`);
  return failure('TOOL_FAILED', `${tool} failed unexpectedly on the developer's machine.`);
}
