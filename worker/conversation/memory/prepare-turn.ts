/** Prepares the next request of a run and chooses its model server. A run uses no other file of this folder. */

import {
  type AfterRefusal,
  type ModelEnv,
  type ModelTarget,
  modelForRole,
  type RefusedHistory,
  resolveTarget,
  type UpstreamMessage,
  type UpstreamReply,
  type UpstreamRequest,
} from '../../../packages/model/index.ts';
import { type PromptEnv, readPromptChanges } from '../../../packages/prompt/index.ts';
import { responseIdOf } from '../../../shared/ids.ts';
import type { Todo, Usage } from '../../../shared/wire/documents.ts';
import type { RuleReports } from '../../../shared/wire/rules.ts';
import { HELD_LIMITS } from '../../images/limits.ts';
import { type ImagePieces, PlacedImages } from '../../images/put-in.ts';
import { toolboxOf } from '../log/offered-tools.ts';
import type { RunLog } from '../log/run-log.ts';
import { ERRANDS } from '../store/errands.ts';
import type { Run } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import type { ErrorReport } from '../tape/error-document.ts';
import type { Recorder } from '../tape/recorder.ts';
import { cutPromptReport } from './cut-prompt.ts';
import { estimateUsage } from './estimate.ts';
import { HeldMessages } from './held-messages.ts';
import { readHistory, readTodos } from './history.ts';
import {
  frameOf,
  type RequestFrame,
  requestFor,
  sizeOf,
  upstreamIdsIn,
  withPlaces,
} from './model-request.ts';
import { RefusedParts, type TurnPlace } from './refused-parts.ts';
import { reportRules } from './rules-report.ts';
import { askForSummary, type Summary } from './summarise.ts';
import { digestOf } from './window/digest.ts';
import { messagesIn, messagesOfHistory } from './window/messages.ts';
import {
  isMostlyFull,
  isRoomy,
  planCompaction,
  planWindow,
  type SummariseWindow,
} from './window/plan.ts';
import { roomOf } from './window/size.ts';
import { summaryRequest } from './window/summary-request.ts';
import type { ModelHistory } from './window/transcript.ts';

export interface MemoryDeps {
  readonly conversationId: string;
  readonly log: RunLog;
  readonly runs: RunStore;
  readonly images: ImagePieces;
  readonly recorder: Recorder;
  /** The models and the prompt's blocks. They are read for each turn, because a deployment can change them. */
  readonly settings: ModelEnv & PromptEnv;
}

/** A request to the model, ready to be sent. */
export interface PreparedTurn {
  readonly target: ModelTarget;
  readonly request: UpstreamRequest;
  /** The ids of all calls in the request: upstreams refuse a request that has an id twice. */
  usedIds(): ReadonlySet<string>;
  /** The report for the person where the server's count shows that it did not read the whole request; else null. */
  cutReport(usage: Usage | null): ErrorReport | null;
  /** The tokens of a reply whose server reported none. */
  estimate(reply: UpstreamReply): Usage;
}

export interface Preparing {
  readonly signal: AbortSignal;
  /** What follows from the refusal of the request before; undefined without one. */
  readonly after?: AfterRefusal | undefined;
}

/** Owns the held pieces of the last request, so that a request costs the same however long the conversation is. */
export class Memory {
  readonly #deps: MemoryDeps;
  readonly #held: HeldMessages;
  readonly #refused: RefusedParts;

  constructor(deps: MemoryDeps) {
    this.#deps = deps;
    this.#held = new HeldMessages(deps.runs);
    this.#refused = new RefusedParts(deps.runs);
  }

  /** The conversation's list of todos. */
  get todos(): readonly Todo[] {
    const { runs, log } = this.#deps;
    return readTodos(runs, log.toolbox);
  }

  /** What became of the rules in the newest run that has started. */
  reportRules(): RuleReports {
    const { conversationId, runs } = this.#deps;
    for (const run of runs.runsBack()) {
      if (run.started === null || ERRANDS[run.request.type].saidBy === 'program') continue;
      const leftOut = this.#refused.for(run.request.model);
      const history = readHistory(runs, run.ordinal, { toolbox: toolboxOf(run), leftOut });
      return {
        responseId: responseIdOf(conversationId, run.ordinal),
        ...reportRules(run, history),
      };
    }
    const none = { rules: [], leftOut: [], skills: [], leftOutSkills: [] };
    return { responseId: null, isKnown: false, ...none };
  }

  /**
   * The next turn of a run, made to fit its model; null when the server refused the request and nothing is left to try.
   * Stores a new window where one is needed; the turns stay stored unchanged. When a summary fails, its details are
   * lost and the run goes on.
   * @throws the signal's reason once it has aborted, and then nothing was stored; a DrawbridgeError when there is no
   * server for the model any more.
   */
  async prepareTurn(run: Run, { signal, after }: Preparing): Promise<PreparedTurn | null> {
    const { log, runs, images, recorder, settings } = this.#deps;
    const asked = askedBy(run, recorder);
    const { model } = asked.request;
    const target = resolveTarget(model, settings);
    const frame = frameOf(asked, target, readPromptChanges(settings));
    const size = sizeOf(asked, frame, target);
    const turn = this.#turnOf(run);
    const toolbox = toolboxOf(run);
    const refused = this.#refused;
    const leftOut = () => refused.for(model, turn);
    const read = () => readHistory(runs, run.ordinal, { toolbox, leftOut: leftOut() });
    const isShorter = after?.type === 'shorten' && !refused.wasShortened(turn);
    const preparedWith = (said: readonly UpstreamMessage[], isMostlyFull: boolean) => {
      const wasShortened = refused.wasShortened(turn);
      const isFirst = turn.turns === 0;
      const places = new PlacedImages(images, HELD_LIMITS.maxSentChars);
      const whole = { ...frame, said: withPlaces(said, places) };
      return prepared(asked, target, whole, places, { isMostlyFull, wasShortened, isFirst });
    };
    if (after && !isShorter && !refused.tryNext(turn, read())) return null;
    if (!isShorter) {
      const standing = { toolbox, leftOut: leftOut() };
      const sent = this.#held.messagesFor(run.ordinal, size, standing);
      if (isRoomy(sent, size)) return preparedWith(messagesIn(sent), isMostlyFull(sent, size));
    }
    const history = read();
    const plan = planWindow(history, size, { force: isShorter });
    if (isShorter) refused.shortened(turn);
    if (plan.type === 'fits') {
      if (!isShorter) return preparedWith(messagesOfHistory(history, size), true);
      return await this.prepareTurn(run, { signal, after: LEAVE_OUT }); // Nothing can be made shorter.
    }
    if (plan.type === 'prune') log.addWindow(run, plan.window);
    else await this.#summarise({ run: asked, history, plan, isLossy: true }, signal);
    return preparedWith(messagesOfHistory(read(), size), false);
  }

  /** As {@link RefusedParts.answered}. */
  answered(run: Run, refusal: ErrorReport | undefined): ErrorReport | null {
    return this.#refused.answered(this.#turnOf(run), refusal);
  }

  /** Nothing that could be changed has led to an answer. */
  refused(run: Run): void {
    this.#refused.refused(this.#turnOf(run));
  }

  /** Forgets what servers have refused: the next request has it again. */
  sendWhole(): void {
    this.#refused.forget();
  }

  #turnOf(run: Run): TurnPlace {
    const { log, recorder } = this.#deps;
    return { run: run.ordinal, model: modelOf(run, recorder), turns: log.turns.length };
  }

  /**
   * Has all that was said before the run summarised. Null where there is nothing. Without a summary, the model gets
   * everything as before.
   * @throws the signal's reason once it has aborted, and then nothing was stored.
   */
  async compact(run: Run, signal: AbortSignal): Promise<Summary | null> {
    const { runs, settings } = this.#deps;
    const target = resolveTarget(run.request.model, settings);
    const size = sizeOf(run, frameOf(run, target, readPromptChanges(settings)), target);
    const leftOut = this.#refused.for(run.request.model);
    const history = readHistory(runs, run.ordinal, { toolbox: toolboxOf(run), leftOut });
    const plan = planCompaction(history, size);
    return plan && (await this.#summarise({ run, history, plan, isLossy: false }, signal));
  }

  /**
   * Asks the model for summaries, and where it fails the run's own: without a summary, the details are lost. Stores the
   * window. Readers see the summary's start and outcome; the window is stored in the same step as the outcome.
   */
  async #summarise({ run, history, plan, isLossy }: SummaryWork, signal: AbortSignal) {
    const { log, recorder, conversationId, settings } = this.#deps;
    const own = run.request.model;
    const askOf = (model: string) => {
      const target = resolveTarget(model, settings);
      const room = model === own ? plan.room : roomOf({ ...target, model }, plan.window.scale);
      return { model, target, request: summaryRequest(history, plan, { model, room }) };
    };
    const models = new Set([modelForRole('summary', own, settings), own]);
    const asks = Array.from(models, (model) => () => askOf(model));
    const responseId = responseIdOf(conversationId, run.ordinal);
    recorder.record([{ type: 'context_summary', responseId, status: 'running' }]);
    const summary = await askForSummary(asks, signal);
    const { text, ...spent } = summary;
    const status = text === null ? 'failed' : 'completed';
    recorder.record([{ type: 'context_summary', responseId, status }]);
    if (text !== null || isLossy) {
      log.addWindow(run, { ...plan.window, digest: digestOf(history, plan, text), ...spent });
    }
    return summary;
  }
}

const LEAVE_OUT: AfterRefusal = { type: 'leave_out' };

interface SummaryWork {
  /** The run, with the model that answers. */
  readonly run: Run;
  readonly history: ModelHistory;
  readonly plan: SummariseWindow;
  /** Whether the window is needed without a summary too. */
  readonly isLossy: boolean;
}

/** The model that answers: the requested one, or the fallback that the tape names. */
export function modelOf(run: Run, recorder: Recorder): string {
  return recorder.response?.model ?? run.request.model;
}

/** The run with the model that answers in place of the requested one. */
function askedBy(run: Run, recorder: Recorder): Run {
  return { ...run, request: { ...run.request, model: modelOf(run, recorder) } };
}

function prepared(
  run: Run,
  target: ModelTarget,
  { said, ...frame }: RequestFrame & { readonly said: readonly UpstreamMessage[] },
  images: PlacedImages,
  { isFirst, ...history }: RefusedHistory & { readonly isFirst: boolean },
): PreparedTurn {
  const demand = isFirst ? run.request.demand : undefined;
  const request = { ...requestFor(run, frame, said), images, history, demand };
  return {
    target,
    request,
    usedIds: () => upstreamIdsIn(request),
    cutReport: (usage) => cutPromptReport(request.messages, usage),
    estimate: (reply) => estimateUsage(request, reply, target),
  };
}
