/** A run that takes changes of files back, or shows what that would do. */
import { parseResponseId, ResponseId } from '../../../../shared/ids.ts';
import { previewUndo, undoChanges } from '../../../../shared/tools/undo.ts';
import type { RequestOf } from '../../store/rows.ts';
import type { RunDeps } from '../run-deps.ts';
import { callStep, endStep, resultOf } from './own-steps.ts';
import type { Step } from './step.ts';

/** The bridge says in a sentence what it did, and the model reads that before its next turn. */
export function undoStep(
  { undo: { preview, ...args } }: RequestOf<'undo'>,
  deps: Pick<RunDeps, 'log' | 'recorder' | 'now' | 'newUuid' | 'conversationId'>,
): Step {
  const turn = deps.log.turns.findLast(({ own }) => own === 'undo');
  if (!turn) return callStep('undo', (preview ? previewUndo : undoChanges).name, args, deps);
  const result = resultOf(turn, deps.recorder);
  if (result?.status !== 'success') {
    const full = deps.log.resultOf(turn.number, 0);
    const isEmpty = full?.status === 'error' && full.code === 'NOTHING_TO_UNDO';
    // A fork restores the files of its point, and they can be so already.
    const isOfFork = args.id !== undefined && isOfOther(args.id, deps.conversationId);
    if (isEmpty && isOfFork) return endStep('completed', 'No file was changed since.', deps);
    return endStep('error', 'Nothing was undone.', deps);
  }
  const text = String(result.data);
  return endStep('completed', preview ? `\`\`\`diff\n${text}\n\`\`\`` : text, deps);
}

function isOfOther(responseId: string, conversationId: string): boolean {
  const parsed = ResponseId.safeParse(responseId).data;
  return parsed !== undefined && parseResponseId(parsed).conversationId !== conversationId;
}
