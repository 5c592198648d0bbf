/** A run that takes changes of files back, or shows what that would do. */
import { previewUndo, undoChanges } from '../../../../shared/tools/undo.ts';
import type { Run } from '../../store/rows.ts';
import type { RunDeps } from '../run-deps.ts';
import { callStep, endStep, resultOf } from './own-steps.ts';
import type { Step } from './step.ts';

/** The bridge says in a sentence what it did, and the model reads that before its next turn. */
export function undoStep(
  { request }: Run,
  deps: Pick<RunDeps, 'log' | 'recorder' | 'now' | 'newUuid'>,
): Step | undefined {
  if (request.type !== 'undo') return undefined;
  const { preview, ...args } = request.undo;
  const turn = deps.log.turns.findLast(({ own }) => own === 'undo');
  if (!turn) return callStep('undo', (preview ? previewUndo : undoChanges).name, args, deps);
  const result = resultOf(turn, deps.recorder);
  if (result?.status !== 'success') return endStep('error', 'Nothing was undone.', deps);
  const text = String(result.data);
  return endStep('completed', preview ? `\`\`\`diff\n${text}\n\`\`\`` : text, deps);
}
