/** The text that an edit starts from: UTF-8, so that writing it back changes no other byte. */
import { ToolFailure } from '../../machine/failure.ts';
import { diffTexts } from './diff.ts';
import { decode } from './encoding.ts';
import { EDIT_LIMITS } from './limits.ts';
import { countLines } from './lines.ts';

/** What a conversation knows of a file. `bytes` is the file as the conversation last saw it. */
export type KnownSource =
  | { readonly state: 'unread' }
  | { readonly state: 'current' }
  | { readonly state: 'changed'; readonly bytes: Uint8Array };

/** `text` has no byte order mark; `bom` is true where the file begins with one. */
export interface SourceText {
  readonly text: string;
  readonly bom: boolean;
}

/** The file's text. Failures: `BINARY_FILE`, `OTHER_ENCODING`, `FILE_TOO_LARGE`. */
export function toSourceText(name: string, bytes: Uint8Array): SourceText {
  const decoded = decode(bytes);
  switch (decoded.kind) {
    case 'utf8':
      assertLineCount(name, decoded.text);
      return { text: decoded.text, bom: decoded.bom };
    case 'binary':
      throw new ToolFailure('BINARY_FILE', `${name} is a binary file: only text can be edited.`);
    case 'other':
      throw new ToolFailure(
        'OTHER_ENCODING',
        `${name} is not UTF-8 (it reads as ${decoded.encoding}), so an edit could damage it: ask the person to convert it.`,
      );
  }
}

/**
 * Throws `STALE` for a file that changed since the conversation saw it; with `mustBeRead`, `READ_FIRST` for an unread
 * one.
 */
export function assertSeen(
  name: string,
  text: string,
  standing: KnownSource,
  { mustBeRead }: { mustBeRead: boolean },
): void {
  if (standing.state === 'changed') {
    const where = describeChange(text, standing.bytes);
    throw new ToolFailure(
      'STALE',
      `${name} was changed since it was last read${where}: read it again, then repeat the edit.`,
    );
  }
  if (standing.state === 'unread' && mustBeRead) {
    throw new ToolFailure(
      'READ_FIRST',
      `${name} exists and was not read in this conversation: read it before its whole content is replaced.`,
    );
  }
}

function assertLineCount(name: string, text: string): void {
  const { maxEditedLines } = EDIT_LIMITS;
  const count = countLines(text);
  if (count <= maxEditedLines) return;
  throw new ToolFailure(
    'FILE_TOO_LARGE',
    `${name} has ${count} lines, more than the ${maxEditedLines} that are edited: change it with a command.`,
  );
}

/** Compares backwards, so that the ranges are lines of the present file. Empty where they cannot be worked out. */
function describeChange(now: string, seen: Uint8Array): string {
  const decoded = decode(seen);
  if (decoded.kind === 'binary' || countLines(decoded.text) > EDIT_LIMITS.maxEditedLines) return '';
  const changes = diffTexts(now, decoded.text);
  if (changes === null) return '';
  const ranges = changes.hunks ?? [changes.diff];
  const shown = ranges
    .slice(0, EDIT_LIMITS.maxStaleRanges)
    .map(({ startLine, endLine }) => `${startLine}-${endLine}`);
  const more = ranges.length > shown.length ? ' and others' : '';
  return ` (around lines ${shown.join(', ')}${more})`;
}
