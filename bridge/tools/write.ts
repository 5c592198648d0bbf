/** Runs write: a whole file at once. */
import type { write } from '../../shared/tools/write.ts';
import { uniformEol, withEol } from '../edits/lines.ts';
import type { Place } from '../sandbox/workspace.ts';
import { assertSeen, type EditableFile, readEditableIfAny } from './editable.ts';
import type { ArgumentsOf, ToolContext } from './executor.ts';
import { assertLiteral, editExecutor, type Proposal, type Propose } from './proposal.ts';

const proposeWrite: Propose<ArgumentsOf<typeof write>> = async (args, context) => {
  const place = await context.workspace.resolve(args.path, 'write');
  const before = await readEditableIfAny(place, context.signal);
  return proposeWhole(place, before, args.contents, context);
};

export const executeWrite = editExecutor(proposeWrite);

/**
 * New content for a whole file. An existing one must have been read, unless it has this content already: so the same
 * call can be run again. It keeps its byte order mark, and CRLF line ends where the new content has none.
 */
export function proposeWhole(
  place: Place<'write'>,
  before: EditableFile | null,
  contents: string,
  context: ToolContext,
): Proposal {
  const after = inStyleOf(before, contents.replace(/^\uFEFF/, ''));
  if (before !== null && before.text !== after) {
    assertSeen(context, place, before, { mustBeRead: true });
  }
  assertLiteral(after, before?.text ?? '');
  return { place, before, after, note: '' };
}

function inStyleOf(before: EditableFile | null, contents: string): string {
  const isCrlf = before !== null && uniformEol(before.text) === '\r\n';
  return isCrlf && !contents.includes('\r\n') ? withEol(contents, '\r\n') : contents;
}
