/** What a subagent may use of its parent's bounds: a share that its call fixes, so that nothing counts in common. Pure. */

import { task } from '../../../shared/tools/task.ts';
import { metLimit, type RunBudget, remaining } from '../../../shared/wire/budget.ts';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import type { RunLog } from '../log/run-log.ts';
import { spendingOf } from '../run/budget.ts';
import { subagentOf } from '../store/errands.ts';
import type { Call, Run } from '../store/rows.ts';
import { spentOf } from '../tape/spending.ts';
import { isLeafType } from './kinds.ts';
import { TASK_LIMITS } from './limits.ts';

/** Whether a call by this name starts a subagent. */
export function isTask(name: string): boolean {
  return name === task.name || task.aliases.includes(name);
}

/** Whether a response has called for a subagent. */
export function startsSubagents(response: ChatResponse | null): boolean {
  const { documents = [] } = response ?? {};
  return documents.some(
    ({ metadata }) => !metadata['isOfApp'] && isTask(String(metadata['toolName'])),
  );
}

/**
 * How many subagents the call's own may start; null where the call itself would be one too many. Every call that comes
 * before it counts, with all that its subagent may start. Nothing is kept for a subagent that starts none.
 */
export function mayStart({ callId }: Call, { request }: Run, { turns }: RunLog): number | null {
  const { depth = 0, mayStart: all = TASK_LIMITS.maxInTree } = subagentOf(request) ?? {};
  const isLowest = depth + 1 >= TASK_LIMITS.maxDepth;
  let left = all;
  for (const call of turns.flatMap(({ calls }) => calls.filter(startsOne))) {
    if (left < 1) return null;
    const isLeaf = isLowest || isLeafType(String(call.arguments?.['subagent_type']));
    const share = isLeaf ? 0 : Math.floor((left - 1) / TASK_LIMITS.shareOfLeft);
    if (call.callId === callId) return share;
    left -= 1 + share;
  }
  return null;
}

/**
 * The budget of each subagent of the newest turn: an equal share of what was left when the turn was complete, with one
 * share for the run itself. Time passes for all at once and is not divided. Null where a share would be nothing.
 */
export function budgetShare(run: Run, log: RunLog, seconds: number): RunBudget | null {
  const own = { maxTurns: TASK_LIMITS.maxTurns };
  const { budget } = run.request;
  if (!budget) return own;
  const calls = log.turns.at(-1)?.calls.filter(startsOne).length ?? 0;
  const spending = { ...spendingOf(run, log), tasks: log.earlierTasks };
  const left = remaining(budget, spentOf(spending, seconds, budget.maxCost?.currency));
  const share = divided(left, calls + 1);
  const given = { ...share, maxTurns: Math.min(share.maxTurns ?? own.maxTurns, own.maxTurns) };
  const cost = given.maxCost ? { ...given.maxCost, amount: 0 } : null;
  const unspent = { tokens: 0, cost, seconds: 0, turns: 0 };
  return metLimit(given, unspent) === null ? given : null;
}

function divided({ maxTokens, maxCost, maxSeconds, maxTurns }: RunBudget, by: number): RunBudget {
  const part = (amount: number) => Math.floor(amount / by);
  return {
    ...(maxTokens !== undefined && { maxTokens: part(maxTokens) }),
    ...(maxCost && { maxCost: { ...maxCost, amount: maxCost.amount / by } }),
    ...(maxSeconds !== undefined && { maxSeconds: maxSeconds * TASK_LIMITS.shareOfTime }),
    ...(maxTurns !== undefined && { maxTurns: part(maxTurns) }),
  };
}

function startsOne({ name }: Call): boolean {
  return isTask(name);
}
