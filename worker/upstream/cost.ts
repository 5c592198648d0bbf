/** What an answer costs. Pure. */
import type { Cost, Usage } from '../../shared/documents.ts';
import { MODEL_LIMITS } from '../../shared/limits.ts';
import type { ModelPrices } from '../../shared/models.ts';

/** Cached input is part of the prompt. What the total holds beyond prompt and completion is reasoning (xAI): output. */
export function costOf(usage: Usage, prices: ModelPrices): Cost {
  const { promptTokens, completionTokens, totalTokens } = usage;
  const cached = Math.min(usage.cachedPromptTokens ?? 0, promptTokens);
  const output = Math.max(completionTokens, totalTokens - promptTokens);
  const amount =
    (promptTokens - cached) * prices.input +
    cached * (prices.cachedInput ?? prices.input) +
    output * prices.output;
  return { amount: rounded(amount / TOKENS_PER_PRICE), currency: prices.currency };
}

const TOKENS_PER_PRICE = 1_000_000;

/** Undefined where one of them is not known, or the currencies differ: half a sum would be a lie. */
export function addCosts(a: Cost | undefined, b: Cost | undefined): Cost | undefined {
  if (!a || !b || a.currency !== b.currency) return undefined;
  return { amount: rounded(a.amount + b.amount), currency: a.currency };
}

/** Without the last digits of binary fractions: 0.3, not 0.30000000000000004. */
function rounded(amount: number): number {
  return Number(amount.toFixed(MODEL_LIMITS.costDecimals));
}
