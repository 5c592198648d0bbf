/** An edit that was worked out, as a proposal that a person may change further. */

import { compute } from '../../machine/compute/compute.ts';
import { sha256 } from '../../machine/hash.ts';
import { cutLines } from '../../shared/text/cut-lines.ts';
import { languageOf } from '../../shared/text/languages.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { Diff, FileEditMetadata } from '../../shared/wire/documents.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import { EDIT_LIMITS, type EditProposal } from '../edits/index.ts';
import { EDIT_TASKS } from '../edits/tasks.ts';
import { decode } from '../edits/text.ts';
import { assertReplaceable, type FileContent, type ResolvedPath } from '../workspace/index.ts';
import { type ShapedEdit, unshaped } from './edit-shape.ts';
import type { EditedFile, Proposed, ToolContext } from './tool.ts';

/** The call of an edit, and its file as it is. */
export interface EditCall {
  readonly tool: string;
  readonly place: ResolvedPath<'write'>;
  /** Null where the file does not exist yet. */
  readonly before: FileContent | null;
  readonly context: ToolContext;
  /** Brings the file's new bytes to where they belong; null where the file stays as it is. */
  readonly carryOut: (bytes: Uint8Array | null, context: ToolContext) => Promise<void>;
}

/**
 * The proposal of the edit that the call leads to. `written` is the text that a person put in its place.
 */
export function toProposed(call: EditCall, shaped: ShapedEdit, written?: string): Proposed {
  const { tool, place, before, context } = call;
  const { bytes, diff, hunks, shown } = shaped.edited;
  const data = [shaped.edited.data, ...shaped.notes].filter((part) => part !== '').join('\n');
  const operation = before === null ? 'create' : 'edit';
  const language = languageOf(place.name);
  const isSpanning = hunks !== undefined && isLong(diff);
  const metadata: FileEditMetadata = {
    filePath: place.name,
    operation,
    language,
    diff: isSpanning ? null : diff,
    ...(hunks && { hunks: [...hunks] }),
    ...shaped.metadata,
  };
  const shownMetadata = { ...metadata, ...(written !== undefined && { written }) };
  const result: ToolResult = { status: 'success', data, metadata: shownMetadata };
  const beforeHash = before?.hash ?? null;
  const change = { beforeHash, afterHash: bytes === null ? beforeHash : sha256(bytes), result };
  const path = context.workspace.nameOf(place.path);
  const { afterHash } = change;
  return {
    proposal: { kind: 'edit', tool, path, operation, ...shown, beforeHash, afterHash },
    change,
    edited: context.isReviewed ? toEditedFile(call, shaped) : undefined,
    apply: async (running) => {
      await call.carryOut(bytes, running);
      return result;
    },
  };
}

function isLong(diff: Diff | null): boolean {
  if (diff === null) return false;
  return diff.oldString.length + diff.newString.length > EDIT_LIMITS.maxSpanningDiffChars;
}

/** What the person's version writes: the whole of a new file, else the new lines of each change. */
function writtenBy(
  { bytes, diff, hunks }: EditProposal,
  content: string,
  before: FileContent | null,
): string {
  if (bytes === null) return '';
  const changes = hunks ?? (diff === null ? [] : [diff]);
  const isWhole = before === null || changes.length === 0;
  const text = isWhole ? content : changes.map(({ newString }) => newString).join('\n');
  return cutLines(text, EDIT_LIMITS.maxProposedChars, 'see the file');
}

/** Undefined where the new file is no text: then no person can change it further. */
function toEditedFile(call: EditCall, shaped: ShapedEdit): EditedFile | undefined {
  const { place, before, context } = call;
  const { edited: edit, isFormatted } = shaped;
  const proposed = edit.bytes ?? before?.bytes ?? new Uint8Array();
  const decoded = decode(proposed);
  if (decoded.kind !== 'utf8') return undefined;
  const name = nameInLine(place.name);
  return {
    path: place.path,
    newText: decoded.text,
    amend: async (content) => {
      if (content === decoded.text) return toProposed(call, shaped);
      const request = { name, bytes: before?.bytes ?? null, proposed, content, isFormatted };
      const edited = await compute(EDIT_TASKS.amendEdit, request, context.signal);
      if (edited.bytes !== null) await assertReplaceable(place);
      return toProposed(call, unshaped(edited), writtenBy(edited, content, before));
    },
  };
}
