/** What an account's responses have spent, by day and model: `GET me/usage`. */
import * as z from 'zod';
import { REQUEST_LIMITS, USAGE_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { Cost } from '../wire/budget.ts';

/** A day of UTC: `2026-11-22`. */
export const Day = z.iso.date();

const Count = z.int().nonnegative();

/** What one model spent on one day. Summaries, titles and subagents count for the model that did the work. */
export const UsageEntry = z.object({
  day: Day,
  model: z.string(),
  /** Responses whose last answer came from this model. */
  responses: Count,
  /** With the cached tokens. */
  promptTokens: Count,
  cachedPromptTokens: Count,
  /** Part of the prompt that was written to the server's cache. */
  cacheWriteTokens: Count,
  completionTokens: Count,
  reasoningTokens: Count,
  totalTokens: Count,
  /** Requests without reported tokens. They are missing in the counts and in the costs. */
  unreportedRequests: Count,
  /** One for each currency. A request to a model without known prices has no cost. */
  costs: z.array(Cost),
});
named.add(UsageEntry, { id: 'UsageEntry' });
export type UsageEntry = z.infer<typeof UsageEntry>;

/** `GET me/usage`. The oldest day comes first. */
export const UsageList = z.object({
  from: Day,
  to: Day,
  items: z.array(UsageEntry),
  /** The `cursor` of the next page; null on the last page. */
  nextCursor: z.string().nullable(),
});
named.add(UsageList, { id: 'UsageList' });
export type UsageList = z.infer<typeof UsageList>;

export const UsageQuery = z.object({
  /** The first day. Absent: USAGE_LIMITS.days days up to `to`. */
  from: Day.optional(),
  /** The last day. Absent: today. */
  to: Day.optional(),
  limit: z.coerce.number().int().min(1).max(USAGE_LIMITS.maxPage).default(USAGE_LIMITS.maxPage),
  /** `nextCursor` of the page before. */
  cursor: z
    .string()
    .max(REQUEST_LIMITS.maxNameChars * 2)
    .optional(),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

/** The day of a time in epoch milliseconds. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length);
}

/** The sum of two entries of the same day and model. */
export function addEntries(a: UsageEntry, b: UsageEntry): UsageEntry {
  const costs = new Map(a.costs.map(({ currency, amount }) => [currency, amount]));
  for (const { currency, amount } of b.costs) {
    costs.set(currency, (costs.get(currency) ?? 0) + amount);
  }
  return {
    day: a.day,
    model: a.model,
    responses: a.responses + b.responses,
    promptTokens: a.promptTokens + b.promptTokens,
    cachedPromptTokens: a.cachedPromptTokens + b.cachedPromptTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    unreportedRequests: a.unreportedRequests + b.unreportedRequests,
    costs: Array.from(costs, ([currency, amount]) => ({ amount, currency })),
  };
}
