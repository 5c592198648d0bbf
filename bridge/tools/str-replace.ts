/** Runs str_replace: one piece of a file for another. */
import type { strReplace } from '../../shared/tools/str-replace.ts';
import type { ArgumentsOf } from './executor.ts';
import { editExecutor } from './proposal.ts';

export const executeStrReplace = editExecutor<ArgumentsOf<typeof strReplace>>((args) => ({
  path: args.file_path,
  edit: {
    kind: 'replace',
    search: args.old_string,
    replacement: args.new_string,
    all: args.replace_all ?? false,
  },
}));
