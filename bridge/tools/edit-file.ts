/** Runs edit_file: merges an edit that leaves unchanged parts out, or takes it as the whole file. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import type { editFile } from '../../shared/tools/edit-file.ts';
import { countLines } from '../edits/lines.ts';
import { hasMarkers, mergeEdit } from '../edits/merge.ts';
import { ToolFailure } from '../sandbox/failure.ts';
import type { Place } from '../sandbox/workspace.ts';
import { assertSeen, type EditableFile, readEditableIfAny } from './editable.ts';
import type { ArgumentsOf, ToolContext } from './executor.ts';
import { assertLiteral, editExecutor, type Proposal, type Propose } from './proposal.ts';
import { proposeWhole } from './write.ts';

const proposeEditFile: Propose<ArgumentsOf<typeof editFile>> = async (args, context) => {
  const place = await context.workspace.resolve(args.target_file, 'write');
  const before = await readEditableIfAny(place, context.signal);
  if (before === null || !hasMarkers(args.code_edit)) {
    assertNotShrunk(place, before, args.code_edit);
    return proposeWhole(place, before, args.code_edit, context);
  }
  return proposeMerge(place, before, args.code_edit, context);
};

export const executeEditFile = editExecutor(proposeEditFile);

/** A file that was never read may be merged into: the unchanged lines around each change are proof enough. */
function proposeMerge(
  place: Place<'write'>,
  before: EditableFile,
  edit: string,
  context: ToolContext,
): Proposal {
  assertSeen(context, place, before, { mustBeRead: false });
  const merged = mergeEdit(before.text, edit);
  if (!merged.ok) throw new ToolFailure(merged.code, `${place.name}: ${merged.message}`);
  assertLiteral(merged.text, before.text);
  return { place, before, after: merged.text, note: '' };
}

/** An edit without markers that is far shorter than its file more likely forgot them. */
function assertNotShrunk(place: Place, before: EditableFile | null, edit: string): void {
  const lines = countLines(before?.text ?? '');
  const deleted = lines - countLines(edit);
  const isMost = deleted > TOOL_LIMITS.maxEdgeDeletedLines && deleted > lines / 2;
  if (deleted <= TOOL_LIMITS.maxDeletedLines && !isMost) return;
  throw new ToolFailure(
    'TOO_MUCH_DELETED',
    `${place.name}: without a marker (\`// ... existing code ...\`) the edit is the whole file, and ${deleted} of ${lines} lines ` +
      'would be gone: add markers where code stays, or replace the whole file with write.',
  );
}
