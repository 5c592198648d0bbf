/** Gives the cost of a request's budget a currency, and refuses a budget that cannot be kept. */

import { type ModelEnv, modelsOfRun, resolveTarget } from '../../packages/model/index.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import type { Budget, RunBudget } from '../../shared/wire/budget.ts';

/** @throws {DrawbridgeError} COST_UNKNOWN if a model that may work for the response has no price in the currency. */
export function toRunBudget(budget: Budget, model: string, env: ModelEnv): RunBudget {
  const { maxCost: asked, ...others } = budget;
  if (asked === undefined) return others;
  const amount = typeof asked === 'number' ? asked : asked.amount;
  const currency = typeof asked === 'number' ? currencyOf(model, env) : asked.currency;
  for (const name of modelsOfRun(model, env)) {
    const known = currencyOf(name, env);
    if (known === undefined) throw unknown(`the prices of the model ${name} are unknown`);
    if (known !== currency) throw unknown(`the prices of the model ${name} are in ${known}`);
  }
  return { ...others, maxCost: { amount, currency: currency ?? '' } };
}

/** The lower limit of both, each on its own. Of two costs in different currencies, the bound's. */
export function boundBudget(
  asked: Budget | undefined,
  bound: Budget | undefined,
): Budget | undefined {
  if (!asked || !bound) return asked ?? bound;
  const lower = (a = Number.POSITIVE_INFINITY, b = Number.POSITIVE_INFINITY) => Math.min(a, b);
  const limits = (['maxTokens', 'maxSeconds', 'maxTurns'] as const).flatMap((name) => {
    const limit = lower(asked[name], bound[name]);
    return Number.isFinite(limit) ? [[name, limit] as const] : [];
  });
  const maxCost = boundCost(asked.maxCost, bound.maxCost);
  return { ...Object.fromEntries(limits), ...(maxCost !== undefined && { maxCost }) };
}

function boundCost(asked: Budget['maxCost'], bound: Budget['maxCost']): Budget['maxCost'] {
  if (asked === undefined || bound === undefined) return asked ?? bound;
  const [mine, theirs] = [asked, bound].map((cost) =>
    typeof cost === 'number' ? { amount: cost, currency: '' } : cost,
  );
  return mine?.currency === theirs?.currency && (mine?.amount ?? 0) < (theirs?.amount ?? 0)
    ? asked
    : bound;
}

function currencyOf(model: string, env: ModelEnv): string | undefined {
  const target = resolveTarget(model, env);
  return target.kind === 'demo' ? undefined : target.prices?.currency;
}

function unknown(why: string): DrawbridgeError {
  return new DrawbridgeError(
    'COST_UNKNOWN',
    `budget.maxCost: ${why}: set a limit of tokens, turns or time instead, or use another currency or model`,
  );
}
