/** Computes the cost of an answer. Pure. */

import { MODEL_LIMITS } from '../../shared/limits.ts';
import type { ModelPrices } from '../../shared/settings/models.ts';
import type { Cost } from '../../shared/wire/budget.ts';
import type { Usage } from '../../shared/wire/documents.ts';

/** Input that was read from a cache, and input that was written to one, are parts of the prompt. Tokens beyond prompt and completion are reasoning (xAI), and cost as output. */
export function costOf(usage: Usage, prices: ModelPrices): Cost {
  const { promptTokens, completionTokens, totalTokens } = usage;
  const cached = Math.min(usage.cachedPromptTokens ?? 0, promptTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, promptTokens - cached);
  const output = Math.max(completionTokens, totalTokens - promptTokens);
  const amount =
    (promptTokens - cached - written) * prices.input +
    written * (prices.cacheWrite ?? prices.input) +
    cached * (prices.cachedInput ?? prices.input) +
    output * prices.output;
  return { amount: rounded(amount / TOKENS_PER_PRICE), currency: prices.currency };
}

const TOKENS_PER_PRICE = 1_000_000;

/** Undefined if one cost is unknown or the currencies differ: a partial sum would mislead. */
export function addCosts(a: Cost | undefined, b: Cost | undefined): Cost | undefined {
  if (!a || !b || a.currency !== b.currency) return undefined;
  return { amount: rounded(a.amount + b.amount), currency: a.currency };
}

/** Removes the rounding error of binary fractions: 0.3, not 0.30000000000000004. */
function rounded(amount: number): number {
  return Number(amount.toFixed(MODEL_LIMITS.costDecimals));
}
