/** An edit that a person changed before allowing it, or that a formatter changed before it was proposed. */

import { ToolFailure } from '../../machine/failure.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { diffTexts } from './diff.ts';
import { encode } from './encoding.ts';
import { describeDiff, describeEdit, type EditProposal, proposalOf } from './propose.ts';
import { toSourceText } from './source.ts';

/** Plain data, because another thread may work it out. */
export interface Amendment {
  /** The file's name as the model sees it, see nameInLine. */
  readonly name: string;
  /** The file as it is; null where it does not exist yet. */
  readonly bytes: Uint8Array | null;
  /** The file as the edit would leave it. */
  readonly proposed: Uint8Array;
  /** The whole file as it is wanted instead: written as it is, with the byte order mark that the file has. */
  readonly content: string;
  /** The formatter that changed the edit, and what the model reads of the edit itself; absent where a person did. */
  readonly formatter?: { readonly name: string; readonly data: string };
  /** Whether a formatter had changed `proposed` before: it is not what the model wrote. */
  readonly isFormatted?: boolean;
}

/**
 * Nothing but size and encoding is checked: a person may write what a model may not. The result shows the model
 * where the file differs from its edit. Throws a {@link ToolFailure} (`FILE_TOO_LARGE`, `BINARY_FILE`,
 * `OTHER_ENCODING`).
 */
export function amendEdit(amendment: Amendment): EditProposal {
  const { name, bytes, proposed, content, formatter, isFormatted = false } = amendment;
  const after = toWritable(name, content);
  const before = bytes === null ? null : toSourceText(name, bytes);
  const wanted = toSourceText(name, proposed).text;
  const data = describeEdit(name, before, after);
  if (after === wanted) return proposalOf(before, after, data);
  const from = `From ${isFormatted ? 'the formatted' : 'your'} edit (-) to the file (+):`;
  const to = `${from}\n${difference(wanted, after)}`;
  if (formatter === undefined) {
    const who = 'The person changed your edit before allowing it.';
    return proposalOf(before, after, `${data} ${who} ${to}`);
  }
  // An edit that the formatter takes back has changed nothing.
  const said = before?.text === after ? data : formatter.data;
  const who = `${formatter.name} formatted your edit before it was written.`;
  return proposalOf(before, after, `${said}\n${who} ${to}`);
}

function toWritable(name: string, content: string): string {
  if (!content.isWellFormed()) throw new ToolFailure('OTHER_ENCODING', `${name}: ${HALF}`);
  const bytes = encode(content.replace(/^\uFEFF/, ''), false);
  if (bytes.length <= TOOL_LIMITS.maxFileBytes) return toSourceText(name, bytes).text;
  throw new ToolFailure(
    'FILE_TOO_LARGE',
    `${name}: the person's content has ${bytes.length} bytes, more than the ${TOOL_LIMITS.maxFileBytes} that are written.`,
  );
}

function difference(wanted: string, after: string): string {
  const changes = diffTexts(wanted, after);
  return changes === null ? describeDiff({ diff: null }) : describeDiff(changes);
}

const HALF = "the person's content holds half of a character, which no file can hold.";
