/** The budget of a run and its limit of turns: how far the run is from it, the note that it is near, and the error that ends the run. */

import { responseIdOf } from '../../../shared/ids.ts';
import { BUDGET_LIMITS, RUN_LIMITS } from '../../../shared/limits.ts';
import { SECOND } from '../../../shared/units.ts';
import {
  type BudgetState,
  type Limit,
  metLimit,
  nearLimits,
  type RunBudget,
  remaining,
  type Spent,
} from '../../../shared/wire/budget.ts';
import type { Deadline } from '../deadlines.ts';
import type { RunLog } from '../log/run-log.ts';
import { ERRANDS } from '../store/errands.ts';
import type { NewTurn, Run } from '../store/rows.ts';
import type { ErrorReport } from '../tape/error-document.ts';
import { type Spending, spentOf } from '../tape/spending.ts';
import type { RunDeps, TurnEnv } from './run-deps.ts';

type BudgetDeps = Pick<RunDeps, 'log' | 'recorder' | 'now' | 'conversationId' | 'settings'>;

/** What the current run, or a run that never started, has spent. `last` is its last turn where it is not stored yet. */
export function spendingOf(run: Run, log: RunLog, last?: NewTurn): Spending {
  if (run.started === null) return { turns: [], windows: [], tasks: [] };
  const turns = [...log.turns, ...(last ? [last] : [])].filter(({ own }) => !own);
  return { turns, windows: log.windowsOf(run), tasks: log.tasks };
}

/** Undefined for a run without a budget whose limit of turns is not near. Subagents' turns do not count. */
export function budgetState(
  run: Run,
  spending: Spending,
  durationMs: number,
  settings: TurnEnv,
): BudgetState | undefined {
  const { budget } = run.request;
  const maxTurns = usualTurnsIfNear(run, spending.turns.length, settings);
  if (!budget && maxTurns === undefined) return undefined;
  const whole = spentOf(spending, durationMs / SECOND, budget?.maxCost?.currency);
  const isUsual = maxTurns !== undefined;
  const limits = { ...budget, ...(isUsual && { maxTurns }) };
  const spent = { ...whole, ...(isUsual && { turns: spending.turns.length }) };
  return { limits, spent, near: nearLimits(limits, spent) };
}

/** The server's limit, where it counts for the run and is near. */
function usualTurnsIfNear(
  { request: { budget } }: Run,
  turns: number,
  settings: TurnEnv,
): number | undefined {
  if (budget?.maxTurns !== undefined) return undefined;
  const maxTurns = usualTurns(settings);
  const isNear = maxTurns - turns <= Math.max(maxTurns * BUDGET_LIMITS.nearShare, 1);
  return isNear ? maxTurns : undefined;
}

/** A setting that is no number within the bound counts as not set. */
function usualTurns({ MAX_TURNS: text = '' }: TurnEnv): number {
  const turns = /^\d+$/.test(text) ? Number(text) : 0;
  return turns >= 1 && turns <= BUDGET_LIMITS.maxTurns ? turns : RUN_LIMITS.maxTurns;
}

/** Adds the time at which the budget of the current run is spent. */
export function withBudgetEnd<Name extends string>(
  deadlines: Deadline<Name>[],
  { log, recorder }: BudgetDeps,
): Deadline<Name | 'budget'>[] {
  const run = log.current;
  const { maxSeconds } = run?.request.budget ?? {};
  if (run?.status !== 'running' || maxSeconds === undefined) return deadlines;
  const atMs = Date.parse(recorder.response?.created ?? '') + maxSeconds * SECOND;
  return [...deadlines, { name: 'budget', atMs }];
}

/** The error with which the current run must end before its next request to the model; null while something is left. */
export function overBudget(run: Run, deps: BudgetDeps): ErrorReport | null {
  const state = stateNow(run, deps);
  const limit = state && metLimit(state.limits, state.spent);
  if (!limit) return null;
  const { limits, spent } = state;
  if (limit === 'maxCost' && spent.cost === null) return COST_LOST;
  if (limit === 'maxTurns' && run.request.budget?.maxTurns === undefined) {
    return turnLimitReport(limits.maxTurns);
  }
  return {
    code: 'BUDGET_EXCEEDED',
    source: 'drawbridge',
    message: `Stopped: the budget of this answer is spent (${amountOf(limits, limit)}). ${ERRANDS[run.request.type].saidBy === 'model' ? SUBAGENT_ADVICE : ADVICE}`,
    details: `Spent: ${described(spent)}.`,
  };
}

const ADVICE =
  'Nothing is lost: send “continue” with a larger budget, and the agent goes on from here.';
/** The parent's model reads it, and cannot send a message to a subagent. */
const SUBAGENT_ADVICE = 'Do the rest yourself, or give it to another subagent.';

/** Warns the model and the readers, once for each limit, that the run nears its budget. The note stays in place. */
export function reportNearBudget(run: Run, deps: BudgetDeps): void {
  const { log, recorder, conversationId } = deps;
  const sent = recorder.response?.metadata.budget?.near ?? [];
  const state = stateNow(run, deps);
  if (!state || state.near.every((limit) => sent.includes(limit))) return;
  const responseId = responseIdOf(conversationId, run.ordinal);
  recorder.record([{ type: 'budget_near', responseId, budget: state }]);
  log.addNote(run, noteOf(state));
}

function stateNow(run: Run, { log, recorder, now, settings }: BudgetDeps): BudgetState | undefined {
  // What subagents have spent is read from the disk.
  const isAsked = run.request.budget || usualTurnsIfNear(run, log.turns.length, settings);
  if (!isAsked) return undefined;
  const startedMs = Date.parse(recorder.response?.created ?? '');
  return budgetState(run, spendingOf(run, log), Math.max(0, now() - startedMs), settings);
}

function turnLimitReport(maxTurns: number | undefined): ErrorReport {
  return {
    code: 'TURN_LIMIT',
    source: 'drawbridge',
    message: `Stopped after ${maxTurns} turns, the most that one answer may take here. Nothing is lost: send “continue”, and the agent goes on from here. A message may allow up to ${BUDGET_LIMITS.maxTurns} turns (budget.maxTurns).`,
  };
}

function noteOf({ limits, spent, near }: BudgetState): string {
  const left = remaining(limits, spent);
  const parts = near.map((limit) => `${amountOf(left, limit)} of ${amountOf(limits, limit)}`);
  return `<system_reminder>The budget of this answer is nearly spent: ${parts.join(', ')} left. The answer is cut off when it is spent. Bring the work to a good state, and say what is open.</system_reminder>`;
}

/** `12 turns`, `0.5 USD`. */
function amountOf(budget: RunBudget, limit: Limit): string {
  const { maxTokens = 0, maxCost, maxSeconds = 0, maxTurns = 0 } = budget;
  switch (limit) {
    case 'maxTokens':
      return `${maxTokens} tokens`;
    case 'maxCost':
      return maxCost ? costText(maxCost) : '';
    case 'maxSeconds':
      return `${Math.round(maxSeconds)} seconds`;
    case 'maxTurns':
      return `${maxTurns} ${maxTurns === 1 ? 'turn' : 'turns'}`;
    default:
      return limit satisfies never;
  }
}

function described({ tokens, cost, seconds, turns, isEstimate }: Spent): string {
  const parts = [
    `${tokens} tokens`,
    ...(cost ? [costText(cost)] : []),
    `${Math.round(seconds)} seconds`,
    `${turns} ${turns === 1 ? 'turn' : 'turns'}`,
  ];
  const note = ' (the model server did not report all tokens: they are estimated)';
  return `${parts.join(', ')}${isEstimate ? note : ''}`;
}

function costText({ amount, currency }: { amount: number; currency: string }): string {
  return `${Number(amount.toPrecision(COST_DIGITS))} ${currency}`;
}

const COST_DIGITS = 4;

/** The table of models has changed since the message came, or a subagent asked a model without prices. */
const COST_LOST: ErrorReport = {
  code: 'COST_UNKNOWN',
  source: 'drawbridge',
  message:
    'Stopped: a part of this answer has no known cost in the currency of its budget, so the budget cannot be kept. Send another message with a budget of tokens, turns or time.',
};
