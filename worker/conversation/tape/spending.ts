/** Sums what a run has spent: its turns, its summaries and its subagents. Pure. */

import { addCosts } from '../../../packages/model/index.ts';
import type { Spent } from '../../../shared/wire/budget.ts';
import type { LastPrompt, SpentSoFar, TaskSpent, Usage } from '../../../shared/wire/documents.ts';
import type { NewTurn, NewWindow } from '../store/rows.ts';

/** Everything of a run that costs tokens. */
export interface Spending {
  readonly turns: readonly NewTurn[];
  /** The windows that the run made: their summaries cost tokens too. */
  readonly windows: readonly NewWindow[];
  /** The subagents that have finished. */
  readonly tasks: readonly TaskSpent[];
}

/** The usage of a run with its subagents; null when no request reported any, as zeros would be false. */
export function usageOf({ turns, windows, tasks }: Spending): Usage | null {
  const sum = sumUsage([...turns, ...windows, ...tasks].map(({ usage }) => usage));
  const unreportedRequests =
    turns.filter((turn) => turn.usage === null && isAsked(turn)).length +
    windows.filter(({ isUnreported }) => isUnreported).length +
    tasks.reduce((count, { usage }) => count + (usage?.unreportedRequests ?? 0), 0);
  return sum && unreportedRequests > 0 ? { ...sum, unreportedRequests } : sum;
}

/** What a run has spent up to here, for one that waits for its app; undefined where nothing was reported. */
export function spentSoFar(spending: Spending): SpentSoFar | undefined {
  const usage = usageOf(spending);
  const lastPrompt = lastPromptOf(spending);
  return usage && lastPrompt ? { usage, lastPrompt } : undefined;
}

/** That of the newest turn whose server reported it. */
export function lastPromptOf({ turns }: Spending): LastPrompt | undefined {
  const last = turns.findLast(({ usage }) => usage)?.usage;
  if (!last) return undefined;
  const { promptTokens: tokens, cachedPromptTokens: cachedTokens } = last;
  return { tokens, ...(cachedTokens !== undefined && { cachedTokens }) };
}

/** Whether a model was asked. Drawbridge makes some turns itself, such as that of a guest's call. */
function isAsked({ model }: NewTurn): boolean {
  return model !== undefined;
}

/** Null when nothing was reported. The cost is left out where one is unknown or the currencies differ. */
export function sumUsage(usages: readonly (Usage | null)[]): Usage | null {
  return usages.reduce((sum, usage) => {
    if (!usage || !sum) return sum ?? usage;
    const cost = addCosts(sum.cost, usage.cost);
    return {
      promptTokens: sum.promptTokens + usage.promptTokens,
      completionTokens: sum.completionTokens + usage.completionTokens,
      totalTokens: sum.totalTokens + usage.totalTokens,
      ...addOptional('cachedPromptTokens', sum, usage),
      ...addOptional('cacheWriteTokens', sum, usage),
      ...addOptional('reasoningTokens', sum, usage),
      ...(cost && { cost }),
    };
  }, null);
}

type OptionalCount = 'cachedPromptTokens' | 'cacheWriteTokens' | 'reasoningTokens';

function addOptional(name: OptionalCount, a: Usage, b: Usage) {
  return a[name] === undefined && b[name] === undefined
    ? {}
    : { [name]: (a[name] ?? 0) + (b[name] ?? 0) };
}

/** What counts for the run's budget. `currency` is the budget's; a budget without a cost needs none. */
export function spentOf(spending: Spending, seconds: number, currency: string | undefined): Spent {
  const { turns, windows, tasks } = spending;
  const counted = [...turns, ...windows].map(({ usage, estimate }) => usage ?? estimate ?? null);
  const sum = sumUsage([...counted, ...tasks.map(({ usage }) => usage)]);
  const cost = sum ? sum.cost : currency === undefined ? undefined : { amount: 0, currency };
  const isEstimate =
    [...turns, ...windows].some(({ estimate }) => estimate) ||
    tasks.some(({ usage }) => usage === null || usage.unreportedRequests);
  return {
    tokens: sum?.totalTokens ?? 0,
    cost: cost ?? null,
    seconds,
    turns: tasks.reduce((count, task) => count + task.turns, turns.filter(isAsked).length),
    ...(isEstimate && { isEstimate }),
  };
}
