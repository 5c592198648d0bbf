/** The conversation's plan: a person changes it, or asks to execute it. The tape's events say how it stands. */

import { DrawbridgeError } from '../../../shared/errors.ts';
import { documentIdOf, responseIdOf } from '../../../shared/ids.ts';
import { createPlan } from '../../../shared/tools/create-plan.ts';
import { type ConversationView, PlanMetadata, type Todo } from '../../../shared/wire/documents.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { findDocument, foldConversation } from '../../../shared/wire/fold.ts';
import { formatPlanFile, planPath } from '../../../shared/wire/plan-file.ts';
import {
  inOrder,
  type Plan,
  type PlanEdit,
  type PlanName,
  PlanState,
} from '../../../shared/wire/plans.ts';
import type { Submission } from '../../ports/conversation.ts';
import { toolboxOf } from '../log/offered-tools.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Run, RunRequest, SaveAs } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import type { Recorder } from '../tape/recorder.ts';
import type { Tape } from '../tape/tape.ts';

export interface PlanDeps {
  readonly conversationId: string;
  readonly log: RunLog;
  readonly runs: RunStore;
  readonly tape: Tape;
  readonly recorder: Recorder;
}

/** Only the newest plan of a conversation can be changed and executed. */
export class Plans {
  readonly #deps: PlanDeps;

  constructor(deps: PlanDeps) {
    this.#deps = deps;
  }

  /** Stores and shows an edited plan, if it differs. Throws NOT_FOUND, SUPERSEDED and PLAN_CHANGED. */
  change(documentId: string, { version, responseId, ...edit }: PlanEdit): Plan {
    const plan = this.#find({ documentId, responseId });
    const edited = { ...plan, ...edit, todos: keepStatuses(edit.todos, plan.todos) };
    if (isSame(edited, plan)) return plan;
    if (version !== plan.version) throw planChanged(plan);
    const changed = { ...edited, version: plan.version + 1 };
    this.#store(changed);
    return changed;
  }

  /** The submission's request, about the plan that it names if any. Throws as {@link change}, and PLAN_FINISHED. */
  requestOf({
    plan: named,
    saveAs,
    request,
  }: Pick<Submission, 'plan' | 'saveAs' | 'request'>): RunRequest {
    if (!named) return request;
    const { version, ...name } = named;
    const plan = this.#find(name);
    if (version !== undefined && version !== plan.version) throw planChanged(plan);
    return saveAs ? savingOf(request, plan, saveAs) : executionOf(request, plan);
  }

  #store(plan: Plan): void {
    const { log, recorder } = this.#deps;
    const { responseId, documentId } = plan;
    const state = PlanState.parse(plan); // Without the names: a fork's rows keep them.
    recorder.record([{ type: 'plan_update', responseId, documentId, plan: state }]);
    for (const run of log.open) {
      const { status, request } = run;
      if (status !== 'queued' || request.type !== 'plan') continue;
      return log.changeRequest(run, { ...request, plan: atStart(plan) });
    }
    for (const run of [log.current, ...log.back()]) {
      if (run && run.started !== null) return log.addPlan(run, state);
    }
  }

  /** The plan with this name as it stands, if it is the newest one. */
  #find({ documentId, responseId }: PlanName): Plan {
    const { conversationId } = this.#deps;
    let isNewest = true;
    for (const laid of this.#laidBack()) {
      const own = responseIdOf(conversationId, laid.run.ordinal);
      if (laid.documentId === documentId && (responseId ?? own) === own) {
        if (!isNewest) {
          const message = 'A newer plan has replaced this one: use the newer one';
          throw new DrawbridgeError('SUPERSEDED', message);
        }
        const plan = this.#read(laid.run, documentId);
        if (plan) return plan;
      }
      isNewest = false;
    }
    throw new DrawbridgeError('NOT_FOUND', 'There is no such plan');
  }

  /** The plans that the model has laid, the newest first, read on demand. */
  *#laidBack(): Generator<{ readonly run: Run; readonly documentId: string }> {
    const { log, runs } = this.#deps;
    for (const { turn: number, call, result } of runs.turns.listsBack(1)) {
      const turn = runs.turns.readTurn(number);
      const made = turn?.calls[call];
      const run = turn && log.find(turn.run);
      if (!made || !run || result.status !== 'success') continue;
      if (toolboxOf(run).nameOf(made.name) !== createPlan.name) continue;
      yield { run, documentId: made.documentId };
    }
  }

  /** Folds the tape from the plan's response on; of the later responses, only one at a time is in memory. */
  #read({ ordinal, started }: Run, documentId: string): Plan | null {
    const { conversationId, tape } = this.#deps;
    const view: ConversationView = { ...NO_VIEW, messages: [], responses: [] };
    for (const { event } of tape.read(started ?? 0)) {
      if (event.type === 'message') continue;
      if (event.type === 'response_start') view.responses.splice(1);
      foldConversation(view, event);
    }
    const responseId = responseIdOf(conversationId, ordinal);
    const [response] = view.responses;
    const document = response?.id === responseId ? findDocument(response, documentId) : undefined;
    const laid = PlanMetadata.safeParse(document?.metadata).data;
    if (!document || !laid) return null; // Damaged on the tape.
    const { title, overview, todos, version = 1 } = laid;
    const content = document.content ?? '';
    return { responseId, documentId, version, title, overview, content, todos };
  }
}

/** What an earlier run has finished stays finished. */
function executionOf(request: RunRequest, plan: Plan): RunRequest {
  const open = plan.todos.filter(isOpen);
  if (plan.todos.length > 0 && open.length === 0) {
    throw new DrawbridgeError(
      'PLAN_FINISHED',
      'All todos of the plan are finished: set some to pending, or add some',
    );
  }
  const messages = [{ role: 'user' as const, content: orderOf(plan, open.length) }];
  return { ...request, messages, type: 'plan', plan: atStart(plan) };
}

function savingOf(request: RunRequest, plan: Plan, { name }: SaveAs): RunRequest {
  const path = planPath(plan.title, name);
  const content = `Save the plan “${plan.title}” in ${path}.`;
  const messages = [{ role: 'user' as const, content }];
  return { ...request, messages, type: 'save', save: { path, contents: formatPlanFile(plan) } };
}

/** The plan as a run begins it: the todos in the order of work, and none in progress. */
export function atStart(plan: PlanState): PlanState {
  const todos = inOrder(plan.todos).map((todo) =>
    isOpen(todo) ? { ...todo, status: PENDING } : todo,
  );
  return PlanState.parse({ ...plan, todos });
}

/** The document that shows the plan's todos as the list, at the start of a run that executes the plan. */
export function listEvents({ todos }: PlanState): TapeEvent[] {
  const documentId = documentIdOf(LIST_SEQUENCE);
  const document = { id: documentId, type: 'todo_update' as const, sequence: LIST_SEQUENCE };
  const listed = todos.map(({ id, content, status }) => ({ id, content, status }));
  return [
    { type: 'document_start', document },
    { type: 'document_end', documentId, metadata: { todos: listed } },
  ];
}

/** The sequence of the last document that the edge itself has put at the start of a run's answer; 0 for none. */
export function listSequence(request: RunRequest): number {
  return request.type === 'plan' && request.plan.todos.length > 0 ? LIST_SEQUENCE : 0;
}

const LIST_SEQUENCE = 1;

const PENDING = 'pending' as const;

const NO_VIEW = {
  id: '',
  title: '',
  archived: false,
  created: '',
  bridgeId: null,
  earlier: null,
  position: 0,
};

function isOpen({ status }: Todo): boolean {
  return status === 'pending' || status === 'in_progress';
}

/** The message of the run. People read it too. */
function orderOf({ title, todos }: Plan, open: number): string {
  const finished = todos.length - open;
  if (finished === 0) return `Execute the plan “${title}”.`;
  return `Go on with the plan “${title}”: ${finished} of ${todos.length} todos are finished and stay so.`;
}

function keepStatuses(edited: PlanEdit['todos'], before: readonly Todo[]): Todo[] {
  const known = new Map(before.map(({ id, status }) => [id, status]));
  return edited.map(({ status, ...todo }) => ({
    ...todo,
    status: status ?? known.get(todo.id) ?? PENDING,
  }));
}

/** Whether the plans differ in nothing but the order of their fields. */
function isSame(a: PlanState, b: PlanState): boolean {
  return JSON.stringify(PlanState.parse(a)) === JSON.stringify(PlanState.parse(b));
}

function planChanged(plan: Plan): DrawbridgeError {
  return new DrawbridgeError(
    'PLAN_CHANGED',
    `The plan has changed meanwhile: its version is ${plan.version}. Look at details.plan and ask again with that version`,
    { details: { plan } },
  );
}
