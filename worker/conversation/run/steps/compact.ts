/** The end of a run that a person has asked for a summary. */
import type { RunDeps } from '../run-deps.ts';
import { endStep } from './own-steps.ts';
import type { Step } from './step.ts';

type Compacted = Awaited<ReturnType<RunDeps['memory']['compact']>>;

/** `summary` is null where there was nothing to summarise. The model reads the text before its next turn. */
export function compactedStep(summary: Compacted, deps: Pick<RunDeps, 'recorder' | 'now'>): Step {
  if (!summary) return endStep('completed', 'There is nothing to summarise yet.', deps);
  if (summary.text !== null) return endStep('completed', 'The conversation is summarised.', deps);
  const step = endStep('error', NOT_SUMMARISED, deps);
  // No window has what the attempt took.
  const { text: _, isUnreported: __, ...spent } = summary;
  return step.type === 'end' && step.turn ? { ...step, turn: { ...step.turn, ...spent } } : step;
}

const NOT_SUMMARISED = 'The model made no summary, so the conversation stays as it was.';
