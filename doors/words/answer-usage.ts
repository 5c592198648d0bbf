/** What one answer has used, for clients that take the prompt of an answer for the fill of the model's window. */
import { type ChatResponse, SpentSoFar, type Usage } from '../../shared/wire/documents.ts';

/** The usage of an answer, and of the run that it is a part of. */
export interface AnswerUsage {
  /** Of the newest request to the model. */
  readonly promptTokens: number;
  readonly cachedPromptTokens: number | undefined;
  /** Of all that the model wrote for this answer. */
  readonly completionTokens: number;
  readonly reasoningTokens: number | undefined;
  /** The sums of all requests of the run so far, with their cost. */
  readonly run: Usage;
}

/**
 * The usage of the answer behind `after`, the sequence of the last document that an earlier answer of the run had. Null
 * where the model server reports none: zeros would be false.
 */
export function usageOfAnswer(response: ChatResponse | null, after: number): AnswerUsage | null {
  const spent = (response?.documents ?? []).map(({ sequence, metadata }) => ({
    sequence,
    at: SpentSoFar.safeParse(metadata['spent']).data,
  }));
  const { usage, metadata } = response ?? {};
  const waiting = spent.findLast(({ at }) => at)?.at;
  const run = usage ?? waiting?.usage;
  if (!run) return null;
  const last = usage ? metadata?.lastPrompt : waiting?.lastPrompt;
  const before = spent.findLast(({ sequence, at }) => at && sequence <= after)?.at?.usage;
  return {
    promptTokens: last?.tokens ?? run.promptTokens,
    cachedPromptTokens: last?.cachedTokens,
    completionTokens: run.completionTokens - (before?.completionTokens ?? 0),
    reasoningTokens: run.reasoningTokens && run.reasoningTokens - (before?.reasoningTokens ?? 0),
    run,
  };
}
