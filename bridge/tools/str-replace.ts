/** Runs str_replace: one piece of a file for another. */
import type { strReplace } from '../../shared/tools/str-replace.ts';
import { replaceText } from '../edits/ladder.ts';
import type { Rung } from '../edits/match.ts';
import { formatLineList } from '../edits/refusal.ts';
import { ToolFailure } from '../sandbox/failure.ts';
import { assertSeen, readEditable } from './editable.ts';
import type { ArgumentsOf } from './executor.ts';
import { assertLiteral, editExecutor, type Propose } from './proposal.ts';

/** A file that was never read may be edited too: that its text was repeated exactly is proof enough. */
const proposeStrReplace: Propose<ArgumentsOf<typeof strReplace>> = async (args, context) => {
  const place = await context.workspace.resolve(args.file_path, 'write');
  const before = await readEditable(place, context.signal);
  assertSeen(context, place, before, { mustBeRead: false });
  const replaced = replaceText(before.text, args.old_string, args.new_string, {
    all: args.replace_all ?? false,
  });
  if (!replaced.ok) throw new ToolFailure(replaced.code, `${place.name}: ${replaced.message}`);
  assertLiteral(args.new_string, before.text);
  const where = `Replaced at line${replaced.lines.length === 1 ? '' : 's'} ${formatLineList(replaced.lines)}.`;
  return { place, before, after: replaced.text, note: `${where}${LENIENCE[replaced.rung]}` };
};

export const executeStrReplace = editExecutor(proposeStrReplace);

/** What the ladder overlooked, so that the model sees it and learns how the file really is. */
const LENIENCE: Readonly<Record<Rung, string>> = {
  exact: '',
  line_ends: '',
  trailing_space: ' old_string differed from the file in white space at line ends.',
  punctuation: ' old_string differed from the file in typographic quotes, dashes or spaces.',
  indentation:
    ' old_string was indented differently; new_string was moved to the indentation of the file.',
};
