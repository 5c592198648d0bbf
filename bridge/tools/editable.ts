/** Files as the editing tools take them: UTF-8 text that can be written back without changing a byte unasked. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { decode } from '../edits/encoding.ts';
import { countLines } from '../edits/lines.ts';
import { ToolFailure } from '../sandbox/failure.ts';
import { type FileImage, readImage, readImageIfAny } from '../sandbox/files.ts';
import type { Place } from '../sandbox/workspace.ts';
import type { ToolContext } from './executor.ts';
import type { LineRange } from './ledger.ts';

/** The text has no byte order mark; `bom` says that the file begins with one. */
export interface EditableFile {
  readonly text: string;
  readonly bom: boolean;
  readonly hash: string;
}

/** A file that must be there. Failures: those of reading it, `BINARY_FILE`, `OTHER_ENCODING`. */
export async function readEditable(place: Place, signal: AbortSignal): Promise<EditableFile> {
  return toEditable(place, await readImage(place, signal));
}

/** The same, or null where there is no file. */
export async function readEditableIfAny(
  place: Place,
  signal: AbortSignal,
): Promise<EditableFile | null> {
  const image = await readImageIfAny(place, signal);
  return image === null ? null : toEditable(place, image);
}

/** Refuses as `STALE` what the conversation saw differently; with `mustBeRead`, as `READ_FIRST` what it never saw. */
export function assertSeen(
  { ledger, conversationId }: ToolContext,
  place: Place,
  file: EditableFile,
  { mustBeRead }: { mustBeRead: boolean },
): void {
  const standing = ledger.standingOf(conversationId, place.path, file);
  if (standing.state === 'changed') {
    throw new ToolFailure(
      'STALE',
      `${place.name} was changed since it was last read${describeRanges(standing.ranges)}: read it again, then repeat the edit.`,
    );
  }
  if (standing.state === 'unread' && mustBeRead) {
    throw new ToolFailure(
      'READ_FIRST',
      `${place.name} exists and was not read in this conversation: read it before its whole content is replaced.`,
    );
  }
}

function toEditable(place: Place, { bytes, hash }: FileImage): EditableFile {
  const decoded = decode(bytes);
  switch (decoded.kind) {
    case 'utf8':
      assertLineCount(place, decoded.text);
      return { text: decoded.text, bom: decoded.bom, hash };
    case 'binary':
      throw new ToolFailure(
        'BINARY_FILE',
        `${place.name} is a binary file: only text can be edited.`,
      );
    case 'other':
      throw new ToolFailure(
        'OTHER_ENCODING',
        `${place.name} is not UTF-8 (it reads as ${decoded.encoding}), so an edit could damage it: ask the person to convert it.`,
      );
  }
}

function assertLineCount(place: Place, text: string): void {
  const { maxEditedLines } = TOOL_LIMITS;
  const count = countLines(text);
  if (count <= maxEditedLines) return;
  throw new ToolFailure(
    'FILE_TOO_LARGE',
    `${place.name} has ${count} lines, more than the ${maxEditedLines} that are edited: change it with a command.`,
  );
}

function describeRanges(ranges: readonly LineRange[] | null): string {
  if (ranges === null) return '';
  const shown = ranges
    .slice(0, TOOL_LIMITS.maxStaleRanges)
    .map(({ startLine, endLine }) => `${startLine}-${endLine}`);
  const more = ranges.length > shown.length ? ' and others' : '';
  return ` (around lines ${shown.join(', ')}${more})`;
}
