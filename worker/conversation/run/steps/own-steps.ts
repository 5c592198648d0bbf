/** The steps of a run that asks no model: one call, and a text about its result at the end. */
import { documentIdOf, newCallId } from '../../../../shared/ids.ts';
import type { Turn } from '../../store/rows.ts';
import type { EndStatus } from '../../tape/run-events.ts';
import type { RunDeps } from '../run-deps.ts';
import { EMPTY_TURN, type OwnCall } from './own-turn.ts';
import type { OwnTurn, Step } from './step.ts';

/** The turn with this one call. */
export function callStep(
  own: OwnTurn['own'],
  name: string,
  args: OwnCall['args'],
  { newUuid }: Pick<RunDeps, 'newUuid'>,
): OwnTurn {
  const call = { callId: newCallId(newUuid()), name, args };
  return { type: 'turn', calls: [call], own, isChecked: true };
}

/** The result of the turn's only call, as its document shows it. A document of an edit shows only a failure. */
export function resultOf(
  { calls }: Turn,
  recorder: RunDeps['recorder'],
): { readonly status?: unknown; readonly data?: unknown } | undefined {
  const { result } = recorder.document(calls[0]?.documentId ?? '')?.metadata ?? {};
  return typeof result === 'object' && result !== null ? result : undefined;
}

/** Ends the run with a text, which the model reads as the answer. */
export function endStep(
  status: EndStatus,
  text: string,
  { recorder, now }: Pick<RunDeps, 'recorder' | 'now'>,
): Step {
  const sequence = recorder.nextSequence;
  const id = documentIdOf(sequence);
  return {
    type: 'end',
    status,
    events: [
      { type: 'document_start', document: { id, type: 'text', sequence } },
      { type: 'content_delta', documentId: id, delta: text },
      { type: 'document_end', documentId: id },
    ],
    turn: { ...EMPTY_TURN, text, calls: [], lastSequence: sequence, atMs: now() },
  };
}

type Compacted = Awaited<ReturnType<RunDeps['memory']['compact']>>;

/** Ends a run that was asked for a summary: null where there was nothing to summarise. */
export function compactedStep(summary: Compacted, deps: Pick<RunDeps, 'recorder' | 'now'>): Step {
  if (!summary) return endStep('completed', 'There is nothing to summarise yet.', deps);
  if (summary.text !== null) return endStep('completed', 'The conversation is summarised.', deps);
  const step = endStep('error', NOT_SUMMARISED, deps);
  // No window has what the attempt took.
  const { text: _, isUnreported: __, ...spent } = summary;
  return step.type === 'end' && step.turn ? { ...step, turn: { ...step.turn, ...spent } } : step;
}

const NOT_SUMMARISED = 'The model made no summary, so the conversation stays as it was.';
