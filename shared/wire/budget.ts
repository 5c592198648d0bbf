/** Limits of what a response may spend, its subagents included, and how far it is from them. Pure. */
import * as z from 'zod';
import { BUDGET_LIMITS } from '../limits.ts';
import { named } from '../named.ts';

/** A code of ISO 4217. */
export const Currency = z.string().regex(/^[A-Z]{3}$/, 'must be a currency code such as USD');

/** An amount in the main unit of the currency (ISO 4217): `{"amount": 0.0042, "currency": "USD"}`. */
export const Cost = z.object({ amount: z.number().nonnegative(), currency: z.string() });
named.add(Cost, { id: 'Cost' });
export type Cost = z.infer<typeof Cost>;

const Amount = z.number().positive();
const MaxTokens = z.int().positive();
const MaxSeconds = z.number().positive().max(BUDGET_LIMITS.maxSeconds);
const MaxTurns = z.int().positive();
const BoundedTurns = MaxTurns.max(BUDGET_LIMITS.maxTurns);

/** The budget of a request. It limits the response and all of its subagents together. */
export const Budget = z
  .strictObject({
    /** Tokens of all requests to models, prompts and answers together. */
    maxTokens: MaxTokens.optional(),
    /** A number is an amount in the currency of the model's prices. */
    maxCost: z
      .union([Amount, z.strictObject({ amount: Amount, currency: Currency })], {
        error: 'must be an amount above 0, or {"amount": 0.5, "currency": "USD"}',
      })
      .optional(),
    /** Seconds since the response began, with all the time in which it waits. */
    maxSeconds: MaxSeconds.optional(),
    /** Answers of models. Absent: the run itself, without its subagents, has the limit of the server. */
    maxTurns: BoundedTurns.optional(),
  })
  .refine((budget) => Object.values(budget).some((limit) => limit !== undefined), {
    error: 'must have maxTokens, maxCost, maxSeconds or maxTurns',
  });
named.add(Budget, { id: 'Budget' });
export type Budget = z.infer<typeof Budget>;

/** The name of a limit in a {@link Budget}. */
export const Limit = z.enum(['maxTokens', 'maxCost', 'maxSeconds', 'maxTurns']);
export type Limit = z.infer<typeof Limit>;

/** The budget of a run: a {@link Budget} whose cost has a currency. */
export const RunBudget = z.object({
  maxTokens: MaxTokens.optional(),
  maxCost: Cost.optional(),
  maxSeconds: MaxSeconds.optional(),
  maxTurns: MaxTurns.optional(),
});
export type RunBudget = z.infer<typeof RunBudget>;

/** What a run and its subagents have spent so far. */
export const Spent = z.object({
  tokens: z.int().nonnegative(),
  /** Null if the cost of a part is unknown, or in a currency other than the budget's. */
  cost: Cost.nullable(),
  seconds: z.number().nonnegative(),
  turns: z.int().nonnegative(),
  /** Set if a model server did not report some tokens: `tokens` and `cost` then have estimates for them. */
  isEstimate: z.literal(true).optional(),
});
export type Spent = z.infer<typeof Spent>;

/** How far a response is from its budget. */
export const BudgetState = z.object({
  limits: RunBudget,
  spent: Spent,
  /** The limits that are nearly or fully spent. Empty at first. */
  near: z.array(Limit),
});
named.add(BudgetState, { id: 'BudgetState' });
export type BudgetState = z.infer<typeof BudgetState>;

/** What is left of each limit, 0 at the least: a subagent's budget, unless {@link metLimit} names a limit. */
export function remaining(budget: RunBudget, { tokens, cost, seconds, turns }: Spent): RunBudget {
  const { maxTokens, maxCost, maxSeconds, maxTurns } = budget;
  const left = (limit: number, spent: number) => Math.max(0, limit - spent);
  const spentCost = cost?.currency === maxCost?.currency ? cost?.amount : undefined;
  return {
    ...(maxTokens !== undefined && { maxTokens: left(maxTokens, tokens) }),
    ...(maxCost && {
      maxCost: { ...maxCost, amount: left(maxCost.amount, spentCost ?? maxCost.amount) },
    }),
    ...(maxSeconds !== undefined && { maxSeconds: left(maxSeconds, seconds) }),
    ...(maxTurns !== undefined && { maxTurns: left(maxTurns, turns) }),
  };
}

/** The first limit that is met; null while there is something left of each. */
export function metLimit(budget: RunBudget, spent: Spent): Limit | null {
  return limitsWith(0, budget, spent)[0] ?? null;
}

/** The limits of which {@link BUDGET_LIMITS.nearShare} or less, or one turn, is left. Also those that are met. */
export function nearLimits(budget: RunBudget, spent: Spent): Limit[] {
  return limitsWith(BUDGET_LIMITS.nearShare, budget, spent);
}

function limitsWith(share: number, budget: RunBudget, spent: Spent): Limit[] {
  const left = remaining(budget, spent);
  return Limit.options.filter((limit) => {
    const whole = amountOf(budget[limit]);
    if (whole === undefined) return false;
    // A model that has one turn left must answer in it.
    const atLeast = limit === 'maxTurns' && share > 0 ? 1 : 0;
    return (amountOf(left[limit]) ?? 0) <= Math.max(whole * share, atLeast);
  });
}

function amountOf(limit: RunBudget[Limit]): number | undefined {
  return typeof limit === 'object' ? limit.amount : limit;
}
