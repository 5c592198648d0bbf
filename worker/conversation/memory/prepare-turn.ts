/** What the model is told next, and who is asked: the one way into this room for a run. */
import type { Todo, Usage } from '../../../shared/documents.ts';
import { responseIdOf } from '../../../shared/ids.ts';
import { type ModelEnv, type ModelTarget, resolveTarget } from '../../upstream/models.ts';
import type { UpstreamMessage, UpstreamRequest } from '../../upstream/request.ts';
import { toolboxOf } from '../store/offered-tools.ts';
import type { Run } from '../store/rows.ts';
import type { RunLog } from '../store/run-log.ts';
import type { RunStore } from '../store/run-statements.ts';
import type { ErrorReport } from '../tape/error-document.ts';
import type { Recorder } from '../tape/recorder.ts';
import { cutPromptReport } from './cut-prompt.ts';
import { HeldTelling } from './held-telling.ts';
import { readHistory, readTodos } from './history.ts';
import { requestFor, sizeOf, upstreamIdsIn } from './model-request.ts';
import { askForSummary } from './summarise.ts';
import { digestOf } from './window/digest.ts';
import { isRoomy, planWindow, type SummariseWindow } from './window/plan.ts';
import { summaryRequest } from './window/summary-request.ts';
import { messagesIn, tellHistory } from './window/telling.ts';
import type { History } from './window/transcript.ts';

/** What memory stands on. */
export interface MemoryDeps {
  readonly conversationId: string;
  readonly log: RunLog;
  readonly runs: RunStore;
  readonly recorder: Recorder;
  /** Which models there are: read for each turn, for a deployment can change it. */
  readonly settings: ModelEnv;
}

/** A request to the model, ready to be sent. */
export interface PreparedTurn {
  readonly target: ModelTarget;
  readonly request: UpstreamRequest;
  /** The ids of all calls in the request: upstreams refuse one in which an id stands twice. */
  usedIds(): ReadonlySet<string>;
  /** What the person is told where the server cannot have read the whole request, by its own count; else null. */
  cutReport(usage: Usage | null): ErrorReport | null;
}

export interface Preparing {
  readonly signal: AbortSignal;
  /** The model has refused what fitted by our estimate. */
  readonly isRefused: boolean;
}

/** Owns what is held of what the model was told last, so that a request costs the same however long the conversation is. */
export class Memory {
  readonly #deps: MemoryDeps;
  readonly #telling: HeldTelling;

  constructor(deps: MemoryDeps) {
    this.#deps = deps;
    this.#telling = new HeldTelling(deps.runs);
  }

  /** The conversation's list of todos. */
  get todos(): readonly Todo[] {
    const { runs, log } = this.#deps;
    return readTodos(runs, log.toolbox);
  }

  /**
   * The next turn of a run, made to fit its model; null when the model has refused that and nothing can be left out. A new
   * window is stored, and what was said stays as it is. A summary that fails costs its details and never the run.
   * @throws what the signal says once it has aborted, and then nothing was stored; a DrawbridgeError when there is no way
   * to the model any more.
   */
  async prepareTurn(run: Run, { signal, isRefused }: Preparing): Promise<PreparedTurn | null> {
    const { log, runs, recorder, settings } = this.#deps;
    const asked = askedBy(run, recorder);
    const target = resolveTarget(asked.request.model, settings);
    const size = sizeOf(asked, target);
    const toolbox = toolboxOf(run);
    const told = this.#telling.tell(run.ordinal, size, toolbox);
    if (!isRefused && isRoomy(told, size)) return prepared(asked, target, messagesIn(told));
    const history = readHistory(runs, run.ordinal, toolbox);
    const plan = planWindow(history, size, { force: isRefused });
    if (plan.type === 'fits') {
      return isRefused ? null : prepared(asked, target, tellHistory(history, size));
    }
    if (plan.type === 'prune') log.addWindow(run, plan.window);
    else await this.#summarise({ run: asked, target, history, plan }, signal);
    return prepared(asked, target, tellHistory(readHistory(runs, run.ordinal, toolbox), size));
  }

  /** Readers see that it is under way, and how it ended; the window is stored in the step that says so. */
  async #summarise({ run, target, history, plan }: Summarising, signal: AbortSignal) {
    const { log, recorder, conversationId } = this.#deps;
    const responseId = responseIdOf(conversationId, run.ordinal);
    recorder.record([{ type: 'context_summary', responseId, status: 'running' }]);
    const request = summaryRequest(history, plan, run.request.model);
    const { text, ...spent } = await askForSummary(target, request, signal);
    const status = text === null ? 'failed' : 'completed';
    recorder.record([{ type: 'context_summary', responseId, status }]);
    log.addWindow(run, { ...plan.window, digest: digestOf(history, plan, text), ...spent });
  }
}

interface Summarising {
  /** With the model that answers. */
  readonly run: Run;
  readonly target: ModelTarget;
  readonly history: History;
  readonly plan: SummariseWindow;
}

/** The model that answers: the one asked for, or the fallback that the tape says has taken over. */
export function modelOf(run: Run, recorder: Recorder): string {
  return recorder.response?.model ?? run.request.model;
}

/** The run as if the model that answers had been asked for. */
function askedBy(run: Run, recorder: Recorder): Run {
  return { ...run, request: { ...run.request, model: modelOf(run, recorder) } };
}

function prepared(run: Run, target: ModelTarget, said: readonly UpstreamMessage[]): PreparedTurn {
  const request = requestFor(run, said);
  return {
    target,
    request,
    usedIds: () => upstreamIdsIn(request),
    cutReport: (usage) => cutPromptReport(request.messages, usage),
  };
}
