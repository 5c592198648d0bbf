/** Decides what a call of `task` starts: the request of the subagent, or a refusal that the model can fix. */

import {
  type ModelEnv,
  modelForRole,
  modelsOfRun,
  resolveModel,
  resolveTarget,
} from '../../../packages/model/index.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { task } from '../../../shared/tools/task.ts';
import { SECOND } from '../../../shared/units.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import type { RunLog } from '../log/run-log.ts';
import { subagentOf } from '../store/errands.ts';
import type { Call, Run, RunRequest } from '../store/rows.ts';
import { kindOf, type SubagentKind } from './kinds.ts';
import { TASK_LIMITS } from './limits.ts';
import { budgetShare, mayStart } from './shares.ts';

/** What decides about a call beside the call itself. */
export interface Starting {
  readonly conversationId: string;
  readonly run: Run;
  /** Whether the parent works in the background. */
  readonly isAgent: boolean;
  /** With the turn of the call. */
  readonly log: RunLog;
  readonly settings: ModelEnv;
  readonly nowMs: number;
  /** When the response began. */
  readonly startedMs: number;
}

export type PlannedTask =
  | { readonly type: 'start'; readonly title: string; readonly request: RunRequest }
  | { readonly type: 'refused'; readonly result: ToolResult };

/** The call's arguments have passed the tool's schema. Never writes. */
export function planTask(call: Call, starting: Starting): PlannedTask {
  const { conversationId, run, isAgent, log, settings, nowMs, startedMs } = starting;
  const args = task.arguments.parse(call.arguments);
  const below = mayStart(call, run, log);
  if (below === null) return refuse('SUBAGENT_LIMIT', TOO_MANY);
  const kind = kindOf(args.subagent_type, run);
  if ('status' in kind) return { type: 'refused', result: kind };
  const model = modelOf(args.model, kind, run, settings);
  if (typeof model !== 'string') return refuse(model.code, model.message);
  const budget = budgetShare(run, log, Math.max(0, nowMs - startedMs) / SECOND);
  if (!budget) return refuse('BUDGET_EXCEEDED', NO_BUDGET);
  const { sampling, unasking, questions, withReasoning, context, trace } = run.request;
  const worktree = run.request.worktree === true ? conversationId : run.request.worktree;
  // The rules that the request brought as messages hold for subagents, too.
  const demands = run.request.messages.filter(({ role }) => role === 'system');
  const { type, mode, tools, definition } = kind;
  const above = subagentOf(run.request);
  const depth = (above?.depth ?? 0) + 1;
  const isUnattended = (isAgent || above?.isUnattended) && {
    isUnattended: true as const,
  };
  return {
    type: 'start',
    title: args.description,
    request: {
      model,
      mode,
      tools,
      sampling,
      unasking,
      questions,
      withReasoning,
      worktree,
      budget,
      messages: [...demands, { role: 'user', content: args.prompt }],
      context: context?.rules && { rules: context.rules },
      type: 'subagent',
      subagent: { type, depth, mayStart: below, definition, ...isUnattended },
      idempotency: { key: call.callId, digest: call.callId },
      trace,
      createdMs: nowMs,
    },
  };
}

/** A model that the call names must be there; that of a type only counts where it can work for this run. */
function modelOf(
  named: string | undefined,
  { model: own, isFast }: SubagentKind,
  run: Run,
  settings: ModelEnv,
): string | DrawbridgeError {
  const { model } = run.request;
  if (named !== undefined) return usable(named, run, settings);
  const fast = isFast ? modelForRole('fast', model, settings) : model;
  const ofKind = own === undefined ? fast : usable(own, run, settings);
  return typeof ofKind === 'string' ? ofKind : model;
}

/** The model; the refusal of one that is not configured, or has no price in the currency of the run's budget. */
function usable(model: string, { request }: Run, settings: ModelEnv): string | DrawbridgeError {
  try {
    if (model === request.model) return model;
    resolveModel(model, settings);
    const currency = request.budget?.maxCost?.currency;
    const isPriced = (name: string) => {
      const target = resolveTarget(name, settings);
      return target.kind !== 'demo' && target.prices?.currency === currency;
    };
    if (currency === undefined || modelsOfRun(model, settings).every(isPriced)) return model;
    return new DrawbridgeError('COST_UNKNOWN', `model: ${model} has no price in ${currency}`);
  } catch (error) {
    if (error instanceof DrawbridgeError) return error;
    throw error;
  }
}

const TOO_MANY = `This answer has started as many subagents as it may: ${TASK_LIMITS.maxInTree}, with those kept for the subagents of generalPurpose ones. Do the rest yourself, or say what is left.`;
const NO_BUDGET =
  'The budget of this answer leaves too little for so many subagents. Start fewer, or do it yourself.';

function refuse(code: string, data: string): PlannedTask {
  return { type: 'refused', result: failure(code, data) };
}
