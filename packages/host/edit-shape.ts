/** What happens to an edit between its computation and its proposal: it may be formatted, and it may be checked. */

import type { FileEditMetadata } from '../../shared/wire/documents.ts';
import type { EditProposal } from '../edits/index.ts';
import type { FileContent, ResolvedPath } from '../workspace/index.ts';
import type { ToolContext } from './tool.ts';

/** An edit as it would be proposed. */
export interface ShapedEdit {
  readonly edited: EditProposal;
  /** For the model, behind the edit's own result, a line or more each. */
  readonly notes: readonly string[];
  readonly metadata: Partial<FileEditMetadata>;
  /** Whether the text is a formatter's and no longer the model's. */
  readonly isFormatted: boolean;
}

/** The file of an edit. */
export interface ShapedFile {
  readonly place: ResolvedPath<'write'>;
  /** Null where the file does not exist yet. */
  readonly before: FileContent | null;
}

/**
 * Returns the edit as it is to be proposed. Called again for the same edit of the same call it must return the same, so
 * that a person's answer still fits. Throws a {@link ToolFailure} that refuses the edit, and the signal's reason.
 */
export type EditShape = (
  shaped: ShapedEdit,
  file: ShapedFile,
  context: ToolContext,
) => Promise<ShapedEdit>;

/** An edit that no shape has seen. */
export function unshaped(edited: EditProposal): ShapedEdit {
  return { edited, notes: [], metadata: {}, isFormatted: false };
}
