/**
 * The life of a call on this machine: it is admitted, proposed, asked about where the policy says so, and carried out.
 */

import { nullForFailure, ToolFailure } from '../../machine/failure.ts';
import { Lanes } from '../../machine/lanes.ts';
import {
  type BridgeTool,
  type FileChange,
  type PersonsAnswer,
  type Proposed,
  type ReadLedger,
  type ServerQuestion,
  toErrorResult,
} from '../../packages/host/index.ts';
import {
  type FileContent,
  type ResolvedPath,
  readContentIfAny,
} from '../../packages/workspace/index.ts';
import { ELICITATION_LIMITS } from '../../shared/limits.ts';
import { OWN_TOOLS } from '../../shared/tools/catalogue.ts';
import { guestEdit } from '../../shared/tools/guest-edit.ts';
import type { Proposal } from '../../shared/wire/approvals.ts';
import { modeAllows } from '../../shared/wire/modes.ts';
import type { ToolCall, ToolResult } from '../../shared/wire/tunnel.ts';
import type { Grantees } from '../grantees/grantees.ts';
import { type AdmittedCall, admit, admitAgain, assertUnmasked, type CallRoom } from './admit.ts';
import type { Asking } from './asking.ts';
import { type CallBook, JournalUnwritable } from './book.ts';
import type { CallGuard } from './guard.ts';
import { patternOf, rulesOf } from './lasting.ts';
import { isAskable, isSame } from './proposal.ts';
import {
  DELETES_OTHERS,
  notAllowed,
  PATH_CHANGED,
  TOO_LARGE,
  UNKNOWN_OUTCOME,
  unasked,
  unwritable,
} from './refusals.ts';
import { shownProposal } from './shown-proposal.ts';
import { strictestOf, type Verdict } from './verdict.ts';

export interface Desk {
  readonly rooms: CallRooms;
  readonly guards: readonly CallGuard[];
  readonly asking: Asking;
  readonly ledger: ReadLedger;
  readonly journal: CallBook;
  /** Says whose calls run. Each call asks it anew, too. */
  readonly grantees: Pick<Grantees, 'enter'>;
}

/** The rooms of a bridge's calls. */
export interface CallRooms {
  readonly workspace: CallRoom;
  /** Throws a {@link ToolFailure} where the call's room is gone. */
  of(call: ToolCall): Promise<CallRoom>;
  /** Does the call's work. Its room knows of it until it ends. */
  during<Value>(call: ToolCall, work: () => Promise<Value>): Promise<Value>;
}

interface ToolRun {
  readonly signal: AbortSignal;
  readonly onOutput: (delta: string) => void;
}

/** A running call: as it came, and as it was admitted, with what hooks say of it. */
interface Life {
  readonly call: ToolCall;
  readonly admitted: AdmittedCall;
  readonly running: ToolRun;
}

/** The result is wrapped in an object, because the caller that waits for its turn must not wait for the result. */
interface BegunCall {
  readonly result: ToolResult | Promise<ToolResult>;
}

/** Knows which calls wait for each other. */
export class CallLife {
  readonly #desk: Desk;
  readonly #lanes = new Lanes();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /**
   * Resolves with a result for every expected outcome. Rejects for a bug, and when the signal aborts; then the journal
   * says whether the tool was started.
   */
  async run(call: ToolCall, running: ToolRun): Promise<ToolResult> {
    try {
      return await this.#desk.rooms.during(call, async () => {
        // In the order of the conversation: a slow guard holds up no other one.
        const lane = `guards of ${call.conversationId}`;
        const { result } = await this.#lanes.run([lane], async () => {
          const objection = await this.#askGuards(call, running.signal);
          return await this.#lanes.run([ADMISSION], () => this.#enter(call, running, objection));
        });
        return await result;
      });
    } catch (error) {
      running.signal.throwIfAborted();
      if (error instanceof ToolFailure) return toErrorResult(error);
      if (error instanceof JournalUnwritable) return unwritable(error);
      throw error;
    } finally {
      this.#desk.ledger.worked(call.conversationId, Date.now());
    }
  }

  /** Once for a call: guards may count. They say nothing of calls that Drawbridge makes itself. */
  async #askGuards(call: ToolCall, signal: AbortSignal): Promise<Verdict | undefined> {
    const { guards } = this.#desk;
    if (guards.length === 0) return undefined;
    const { tools, workspace } = await this.#roomOf(call);
    const { definition, read } = tools.get(call.tool) ?? {};
    if (!definition || !read || OWN_NAMES.has(definition.name)) return undefined;
    const { callId, conversationId, run, isPrivate } = call;
    const { args } = read(call.arguments, conversationId);
    const guarded = { definition, args, root: workspace.root, callId, conversationId };
    const asked = guards.map((guard) => guard({ ...guarded, run, isPrivate }, signal));
    const verdicts = (await Promise.all(asked)).filter((verdict) => verdict !== undefined);
    return verdicts.length === 0 ? undefined : strictestOf(verdicts);
  }

  /**
   * Admits calls one after the other. Otherwise the speed of the disk would decide the order of two writes to one path.
   */
  async #enter(
    call: ToolCall,
    running: ToolRun,
    objection: Verdict | undefined,
  ): Promise<BegunCall> {
    const { journal } = this.#desk;
    const room = await this.#roomOf(call);
    if (modeAllows(call.mode, 'execute')) room.undoing?.watch();
    const admission = await admit(call, room, objection);
    const known = journal.lookup(call.callId);
    const change = known.state === 'interrupted' ? known.change : undefined;
    if (admission.state === 'refused')
      return { result: change ? UNKNOWN_OUTCOME : admission.result };
    const { call: admitted } = admission;
    const life = { call, admitted, running };
    const seenHash = journal.seenHash(call.callId);
    if (change || seenHash !== undefined) {
      const lookBack = () => this.#lookBack(life, change, seenHash);
      const outcome = await this.#lanes.run(admitted.lanes, lookBack, running.signal);
      if (outcome) return { result: outcome };
    }
    const isAllowed = admitted.verdict.decision === 'allow';
    return { result: isAllowed ? this.#carryOutAllowed(life) : this.#askInOrder(life) };
  }

  /**
   * The outcome of a change that an earlier process has started, judged by the file's bytes. Null where nothing was
   * started or nothing was changed. The content that the earlier process made its proposal from counts as read.
   */
  async #lookBack(
    life: Life,
    change: FileChange | undefined,
    seenHash: string | undefined,
  ): Promise<ToolResult | null> {
    const { conversationId, places } = life.admitted;
    const [place] = places;
    const found = await readIfReadable(place, life.running.signal);
    const hash = found === null ? null : found?.hash;
    const isMade = change !== undefined && hash === change.afterHash;
    if (found && (isMade || hash === seenHash)) {
      this.#desk.ledger.remember(conversationId, place.path, found);
    }
    if (isMade) return change.result;
    return change === undefined || hash === change.beforeHash ? null : UNKNOWN_OUTCOME;
  }

  async #carryOutAllowed(life: Life): Promise<ToolResult> {
    const begun = await this.#beginAllowed(life);
    return begun ? await begun.result : await this.#askInOrder(life);
  }

  /**
   * Stays in the lane of its path from the proposal to the end, so that two edits of one file follow each other. Null
   * where a person must be asked.
   */
  async #beginAllowed({ admitted, call, running }: Life): Promise<BegunCall | null> {
    const begin = async (): Promise<BegunCall | null> => {
      const isRead = admitted.counts.effect === 'read';
      const now = isRead ? admitted : await this.#admitAgain({ admitted, call, running });
      if ('result' in now) return now;
      if (now.verdict.decision === 'ask') return null;
      const proposed = await this.#propose(now, running, { isReviewed: false });
      if (proposed.asks !== undefined) return null;
      const asked = this.#desk.journal.askedNonce(call.callId);
      if (asked !== undefined) this.#desk.asking.drop(call.callId, asked);
      const result = this.#start(now, proposed, running);
      return { result: now.lanes.length === 0 ? result : await result };
    };
    return await this.#lanes.run(admitted.lanes, begin, running.signal);
  }

  /** Asks the questions of a conversation one after the other, because each proposal builds on the change before. */
  async #askInOrder(life: Life): Promise<ToolResult> {
    const { call, running } = life;
    const lanes = [questionsOf(call.conversationId)];
    const { result } = await this.#lanes.run(lanes, () => this.#ask(life), running.signal);
    return await result;
  }

  /**
   * Asks until the person's answer is about what would really happen. Asks nothing where the answer to an earlier
   * question, which this one has waited for, allows the call.
   */
  async #ask(life: Life): Promise<BegunCall> {
    const { asking } = this.#desk;
    const { callId, conversationId } = life.admitted;
    const allowed = await this.#allowedMeanwhile(life);
    const begun = allowed && (await this.#beginAllowed(allowed));
    if (begun) return begun;
    const { signal } = life.running;
    for (let isChanged = false; ; isChanged = true) {
      const now = await this.#admitAgain(life);
      if ('result' in now) return now;
      const inLane = <T>(work: () => Promise<T>) => this.#lanes.run(now.lanes, work, signal);
      const { proposal, edited, asks } = await inLane(() => this.#propose(now, life.running));
      if (!isAskable(proposal)) return { result: TOO_LARGE };
      const isRuled = now.verdict.decision === 'ask' || asks === undefined;
      const reason = isRuled ? now.verdict.reason : asks;
      if (now.grantee !== undefined) return { result: unasked(reason) };
      const pattern = patternOf(proposal);
      const lasts =
        asks === undefined &&
        pattern !== undefined &&
        (await now.wouldRunBy(rulesOf(proposal, pattern, new Date())));
      const { decision, content, ...said } = await asking.ask({
        subject: { callId, conversationId, proposal: shownProposal(proposal) },
        reason: isChanged ? `${CHANGED} ${reason}` : reason,
        edited,
        pattern: lasts ? pattern : undefined,
        isPrivate: life.admitted.isPrivate,
        signal,
        stillHolds: async () => (await inLane(() => this.#findSame(life, now, proposal))) !== null,
      });
      signal.throwIfAborted();
      if (decision === 'reject' || decision === 'expired') {
        return { result: notAllowed({ decision, ...said }) };
      }
      if (decision === 'superseded') continue;
      const started = await inLane(() => this.#startIfSame(life, now, proposal, content));
      if (started) return started;
    }
  }

  /** The call as it would be admitted if it came now, where that needs no question any more. */
  async #allowedMeanwhile(life: Life): Promise<Life | undefined> {
    if (life.admitted.verdict.decision !== 'ask') return undefined;
    const { objection } = life.admitted;
    const admission = await admit(life.call, await this.#roomOf(life.call), objection);
    const isAllowed = admission.state === 'admitted' && admission.call.verdict.decision === 'allow';
    return isAllowed ? { ...life, admitted: admission.call } : undefined;
  }

  /** Null where the call would now do something else than proposed. A command frees its turn for the next question. */
  async #startIfSame(
    life: Life,
    asked: AdmittedCall,
    proposal: Proposed['proposal'],
    content: string | undefined,
  ): Promise<BegunCall | null> {
    const same = await this.#findSame(life, asked, proposal);
    if (same === null || 'result' in same) return same;
    const { now } = same;
    const proposed = content === undefined ? same.proposed : await amended(same.proposed, content);
    const result = this.#start(now, proposed, life.running);
    return { result: now.lanes.length === 0 ? result : await result };
  }

  /** The call and its proposal, if the proposal is still the same; a refusal where the call may no longer run. */
  async #findSame(
    life: Life,
    asked: AdmittedCall,
    proposal: Proposed['proposal'],
  ): Promise<{ now: AdmittedCall; proposed: Proposed } | BegunCall | null> {
    const now = await this.#admitAgain(life);
    if ('result' in now) return now;
    const isMoved = now.places.some(({ path }, index) => path !== asked.places[index]?.path);
    if (isMoved && proposal.kind === 'call') return { result: PATH_CHANGED };
    const proposed = await this.#propose(now, life.running).catch(nullForFailure);
    return proposed !== null && isSame(proposed.proposal, proposal) ? { now, proposed } : null;
  }

  async #admitAgain({ call, admitted }: Life): Promise<AdmittedCall | BegunCall> {
    const admission = await admitAgain(call, admitted, await this.#roomOf(call));
    return admission.state === 'admitted' ? admission.call : { result: admission.result };
  }

  async #roomOf(call: ToolCall): Promise<CallRoom> {
    const grant = await this.#desk.grantees.enter(call);
    const room = await this.#desk.rooms.of(call);
    return grant ? { ...room, tools: { get: (name) => forOthers(room.tools.get(name)) } } : room;
  }

  async #propose(
    now: AdmittedCall,
    running: ToolRun,
    { isReviewed } = { isReviewed: true },
  ): Promise<Proposed> {
    running.signal.throwIfAborted();
    return await now.propose(this.#contextOf(now, running, isReviewed));
  }

  async #start(now: AdmittedCall, proposed: Proposed, running: ToolRun): Promise<ToolResult> {
    const { name: tool } = now.tool.definition;
    const { change } = proposed;
    running.signal.throwIfAborted();
    this.#desk.journal.start({ callId: now.callId, tool, ...now.counts, change });
    const context = this.#contextOf(now, running, false);
    const elicit = this.#elicitorOf(now, running);
    const work = () => proposed.apply({ ...context, elicit });
    const result = await this.#kept(now, proposed, work);
    const note = now.verdict.visibility?.note;
    if (note === undefined || result.status !== 'success') return result;
    return { ...result, data: `${result.data}\n${note}` };
  }

  /** Does the work of a call so that it can be undone, and at no time with an undo. */
  async #kept(
    { undoing, tool, counts, callId, conversationId, verdict, restores }: AdmittedCall,
    proposed: Proposed,
    work: () => Promise<ToolResult>,
  ): Promise<ToolResult> {
    if (!undoing || counts.effect === 'read') return await work();
    const isCommand = counts.effect === 'execute' || tool.definition.origin !== undefined;
    // A parallel command may have put another file there since the verdict, which the look before this one has just read.
    const mayBegin = () =>
      verdict.decision !== 'allow' || [...restores].every((path) => undoing.canRestore(path));
    const undoable = { callId, conversationId, isCommand, isAlone: proposed.isAlone ?? false };
    return await undoing.around(undoable, async () => (mayBegin() ? await work() : DELETES_OTHERS));
  }

  #contextOf(now: AdmittedCall, { signal, onOutput }: ToolRun, isReviewed: boolean) {
    const { workspace, places, conversationId, isPrivate, grantee, callId, counts, undoing } = now;
    const mayRepeat = counts.effect === 'read' || counts.idempotent;
    const { ledger } = this.#desk;
    const kept = undoing?.keepingOf({ callId, conversationId });
    const run = { isReviewed, ledger, ...kept, signal, onOutput };
    const known = { workspace, places, callId, conversationId, isPrivate, grantee, ...run };
    return { ...known, mayRepeat, elicit: async () => NOT_ASKED };
  }

  /** Asks for the server of a running call, in the order of its conversation's other questions. */
  #elicitorOf({ callId, conversationId, isPrivate, tool }: AdmittedCall, running: ToolRun) {
    const { name, origin } = tool.definition;
    let number = 0;
    return async (
      { message, fields }: ServerQuestion,
      signal: AbortSignal,
    ): Promise<PersonsAnswer> => {
      const server = origin?.server ?? name;
      const proposal: Proposal = {
        kind: 'elicitation',
        tool: name,
        server,
        message,
        fields: [...fields],
        number: ++number,
      };
      if (number > ELICITATION_LIMITS.maxQuestions || !isAskable(proposal)) return NOT_ASKED;
      const ended = AbortSignal.any([signal, running.signal]);
      const inquiry = {
        subject: { callId, conversationId, proposal },
        reason: ASKED_BY_SERVER,
        isPrivate,
        signal: ended,
      };
      const ask = () => this.#desk.asking.ask(inquiry);
      return await this.#lanes.run([questionsOf(conversationId)], ask, ended);
    };
  }
}

/** Servers act with the owner's logins, and the agent programs at this machine are the owner's. */
function forOthers(tool: BridgeTool | undefined): BridgeTool | undefined {
  const isOwners =
    tool?.definition.origin !== undefined || tool?.definition.name === guestEdit.name;
  return isOwners ? undefined : tool;
}

/** What the person wants instead. Without `edited` only a bug brings content this far. */
async function amended({ edited }: Proposed, content: string): Promise<Proposed> {
  assertUnmasked(content);
  if (edited) return await edited.amend(content);
  throw new Error('A call that is no change to a file was answered with content.');
}

/** Undefined for anything but a readable file: that is neither the old content nor the new one. */
async function readIfReadable(
  place: ResolvedPath,
  signal: AbortSignal,
): Promise<FileContent | null | undefined> {
  try {
    return await readContentIfAny(place, signal);
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

function questionsOf(conversationId: string): string {
  return `questions of ${conversationId}`;
}

const NOT_ASKED: PersonsAnswer = { decision: 'expired' };
const ASKED_BY_SERVER = 'The tool runs and waits for your answer.';
const CHANGED = 'What this call would do has changed since it was asked about.';

const OWN_NAMES: ReadonlySet<string> = new Set(OWN_TOOLS.map(({ name }) => name));

/** The lane for admissions. It cannot be a file's lane, because those are absolute paths. */
const ADMISSION = 'admission';
