/** The last event of a run: what its turns came to. Pure. */
import type { ResponseStatus, Usage } from '../../shared/documents.ts';
import type { TapeEvent } from '../../shared/events.ts';
import { addCosts } from '../upstream/cost.ts';
import type { NewTurn, RunStatus } from './rows.ts';

/** How a run can end: the same words in the table of runs and in the response. */
export type EndStatus = Extract<RunStatus & ResponseStatus, string>;

export function doneEvent(
  responseId: string,
  status: EndStatus,
  turns: readonly NewTurn[],
  durationMs: number,
): TapeEvent {
  return {
    type: 'done',
    responseId,
    status,
    usage: sumUsage(turns.map(({ usage }) => usage)),
    metadata: {
      duration_ms: durationMs,
      toolCallCount: turns.reduce((count, { calls }) => count + calls.length, 0),
      turnCount: turns.length,
    },
  };
}

/** Null when no turn reported any: zeros would be a lie. */
function sumUsage(usages: readonly (Usage | null)[]): Usage | null {
  return usages.reduce((sum, usage) => {
    if (!usage || !sum) return sum ?? usage;
    const cost = addCosts(sum.cost, usage.cost);
    return {
      promptTokens: sum.promptTokens + usage.promptTokens,
      completionTokens: sum.completionTokens + usage.completionTokens,
      totalTokens: sum.totalTokens + usage.totalTokens,
      ...addOptional('cachedPromptTokens', sum, usage),
      ...addOptional('reasoningTokens', sum, usage),
      ...(cost && { cost }),
    };
  }, null);
}

function addOptional(name: 'cachedPromptTokens' | 'reasoningTokens', a: Usage, b: Usage) {
  return a[name] === undefined && b[name] === undefined
    ? {}
    : { [name]: (a[name] ?? 0) + (b[name] ?? 0) };
}
