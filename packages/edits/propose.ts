/**
 * Works out an edit without changing anything: takes a file's bytes and a request, returns the new bytes and their
 * diff.
 */

import { ToolFailure } from '../../machine/failure.ts';
import { cutLines } from '../../shared/text/cut-lines.ts';
import type { Diff } from '../../shared/wire/documents.ts';
import { diffTexts, formatChange, type ShownChange, showChange } from './diff.ts';
import { encode } from './encoding.ts';
import { replaceText } from './ladder.ts';
import { EDIT_LIMITS } from './limits.ts';
import { countLines, uniformEol, withEol } from './lines.ts';
import { assertLiteral } from './literal.ts';
import type { Rung } from './match.ts';
import { hasMarkers, mergeEdit } from './merge.ts';
import { editNotebook, type NotebookEdit } from './notebook.ts';
import { isNotebook } from './notebooks/notebook.ts';
import { formatLineList } from './refusal.ts';
import { assertSeen, type KnownSource, type SourceText, toSourceText } from './source.ts';

/** Everything that an edit needs. It is plain data, because another thread may work it out. */
export interface EditRequest {
  /** The file's name as the model sees it, see nameInLine. */
  readonly name: string;
  /** Null where the file does not exist yet. */
  readonly bytes: Uint8Array | null;
  readonly standing: KnownSource;
  readonly edit: Edit;
}

/** A piece of a text; with `all` every equal piece. */
export interface TextPiece {
  readonly search: string;
  readonly replacement: string;
  readonly all: boolean;
}

export type Edit =
  /** Replaces pieces by others, each in the text that the ones before it leave. The file must exist. */
  | { readonly kind: 'replace'; readonly pieces: readonly TextPiece[] }
  /** A text that leaves out unchanged parts, or the whole file. */
  | { readonly kind: 'merge'; readonly text: string }
  /** The whole file. */
  | { readonly kind: 'write'; readonly text: string }
  /** One cell of a notebook. The file must exist. */
  | NotebookEdit;

/** The result of an edit. */
export interface EditProposal {
  /** The whole new file; null where the file stays as it is. */
  readonly bytes: Uint8Array | null;
  /** The model's text once the edit is done. */
  readonly data: string;
  /** Null for a new file, for an unchanged file, and for a change too long to show. */
  readonly diff: Diff | null;
  readonly hunks?: readonly Diff[];
  /** The same for a person who is asked. It also shows a new file, and the beginning of a long change. */
  readonly shown: ShownChange;
}

/** Throws a {@link ToolFailure} for an edit that cannot be made. */
export function proposeEdit({ name, bytes, standing, edit }: EditRequest): EditProposal {
  const before = bytes === null ? null : toSourceText(name, bytes);
  const { after, note, changes } = rewrite({ name, before, standing, edit });
  const sentence = `${describeEdit(name, before, after)}${note === '' ? '' : ` ${note}`}`;
  const proposal = proposalOf(before, after, sentence);
  if (before === null || proposal.bytes === null) return proposal;
  return { ...proposal, data: `${sentence}\n${changes ?? describeDiff(proposal)}` };
}

/** What changed, for the model; as much of it as is worth its tokens. */
export function describeDiff({ diff, hunks }: Pick<EditProposal, 'diff' | 'hunks'>): string {
  if (diff === null) return '(too much has changed to be shown: use read_file)';
  const { text } = formatChange({ diff, ...(hunks && { hunks }) });
  return cutLines(text, EDIT_LIMITS.maxShownDiffChars, 'use read_file');
}

/** The change from `before` (null where the file does not exist yet) to the new text. `data` is for the model. */
export function proposalOf(before: SourceText | null, after: string, data: string): EditProposal {
  if (before?.text === after) return { bytes: null, data, diff: null, shown: { diff: [] } };
  const isLong = countLines(after) > EDIT_LIMITS.maxEditedLines;
  const changes = before === null || isLong ? null : diffTexts(before.text, after);
  const fresh = encode(after, before?.bom ?? false);
  return {
    bytes: fresh,
    data,
    diff: changes?.diff ?? null,
    ...(changes?.hunks && { hunks: changes.hunks }),
    shown: showChange(before?.text ?? null, after, changes),
  };
}

/** A request whose file is decoded. */
interface DecodedEdit {
  readonly name: string;
  readonly before: SourceText | null;
  readonly standing: KnownSource;
}

/** The whole new text without byte order mark. `note` says how the edit was understood. */
interface Rewritten {
  readonly after: string;
  readonly note: string;
  /** For the model, in place of the file's diff. */
  readonly changes?: string;
}

function rewrite({ edit, ...source }: DecodedEdit & { readonly edit: Edit }): Rewritten {
  const { name, before } = source;
  switch (edit.kind) {
    case 'replace':
      if (before === null) throw new ToolFailure('FILE_NOT_FOUND', `${name} does not exist.`);
      return replacePieces(source, before, edit.pieces);
    case 'merge':
      if (before !== null && hasMarkers(edit.text)) return mergePieces(source, before, edit.text);
      assertNotShrunk(name, before, edit.text);
      return replaceWhole(source, edit.text);
    case 'write':
      return replaceWhole(source, edit.text);
    case 'cell':
      if (before === null) throw new ToolFailure('FILE_NOT_FOUND', `${name} does not exist.`);
      // An exact copy of text in the cell is proof enough.
      assertSeen(name, before.text, source.standing, { mustBeRead: edit.search === undefined });
      return editNotebook(name, before.text, edit);
  }
}

/** A file that was never read may be edited too: an exact copy of its text is proof enough. */
function replacePieces(
  { name, standing }: DecodedEdit,
  before: SourceText,
  pieces: readonly TextPiece[],
): Rewritten {
  assertSeen(name, before.text, standing, { mustBeRead: false });
  const notes: string[] = [];
  let after = before.text;
  for (const [index, { search, replacement, all }] of pieces.entries()) {
    const isOnly = pieces.length === 1;
    const replaced = replaceText(after, search, replacement, { all });
    const where = isOnly ? '' : `Edit ${index + 1} of ${pieces.length} (none was made): `;
    if (!replaced.ok) {
      const hint = isNotebook(name) ? ' Change a cell with edit_notebook.' : '';
      throw new ToolFailure(replaced.code, `${where}${name}: ${replaced.message}${hint}`);
    }
    assertLiteral(replacement, after, where);
    const lines = `line${replaced.lines.length === 1 ? '' : 's'} ${formatLineList(replaced.lines)}`;
    const which = isOnly ? 'Replaced' : `Edit ${index + 1}: replaced`;
    notes.push(`${which} at ${lines}.${LENIENCE[replaced.rung]}`);
    after = replaced.text;
  }
  return { after, note: notes.join(' ') };
}

/** The differences that the ladder ignored. The model reads them and learns the file's real text. */
const LENIENCE: Readonly<Record<Rung, string>> = {
  exact: '',
  line_ends: '',
  trailing_space: ' old_string differed from the file in white space at line ends.',
  punctuation: ' old_string differed from the file in typographic quotes, dashes or spaces.',
  indentation:
    ' old_string was indented differently; new_string was moved to the indentation of the file.',
};

/** A file that was never read may be merged into: the unchanged lines around each change are proof enough. */
function mergePieces({ name, standing }: DecodedEdit, before: SourceText, edit: string): Rewritten {
  assertSeen(name, before.text, standing, { mustBeRead: false });
  const merged = mergeEdit(before.text, edit);
  if (!merged.ok) throw new ToolFailure(merged.code, `${name}: ${merged.message}`);
  assertLiteral(merged.text, before.text);
  return { after: merged.text, note: '' };
}

/** An edit without markers that is far shorter than its file has probably forgotten them, however short the file is. */
function assertNotShrunk(name: string, before: SourceText | null, edit: string): void {
  const lines = countLines(before?.text ?? '');
  const deleted = lines - countLines(edit);
  if (deleted <= EDIT_LIMITS.maxDeletedLines && deleted <= lines * LARGEST_LOSS) return;
  throw new ToolFailure(
    'TOO_MUCH_DELETED',
    `${name}: without a marker (\`// ... existing code ...\`) the edit is the whole file, and ${deleted} of ${lines} lines ` +
      'would be gone: add markers where code stays, or replace the whole file with write.',
  );
}

const LARGEST_LOSS = 1 / 3;

/**
 * An existing file must have been read, unless it already has this content: then the same call may run again. The file
 * keeps its byte order mark, and its CRLF line ends where the new content has none.
 */
function replaceWhole({ name, before, standing }: DecodedEdit, contents: string): Rewritten {
  const after = inStyleOf(before, contents.replace(/^\uFEFF/, ''));
  if (before !== null && before.text !== after) {
    assertSeen(name, before.text, standing, { mustBeRead: true });
  }
  assertLiteral(after, before?.text ?? '');
  return { after, note: '' };
}

function inStyleOf(before: SourceText | null, contents: string): string {
  const isCrlf = before !== null && uniformEol(before.text) === '\r\n';
  return isCrlf && !contents.includes('\r\n') ? withEol(contents, '\r\n') : contents;
}

/** One sentence. */
export function describeEdit(name: string, before: SourceText | null, after: string): string {
  if (before === null) return `Created ${name} (${formatLines(countLines(after))}).`;
  if (before.text === after) return `${name} already has exactly this content.`;
  return `Edited ${name} (${formatLines(countLines(before.text))} before, ${countLines(after)} now).`;
}

function formatLines(count: number): string {
  return count === 1 ? '1 line' : `${count} lines`;
}
