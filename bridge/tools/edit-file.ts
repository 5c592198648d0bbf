/** Runs edit_file: merges an edit that leaves unchanged parts out, or takes it as the whole file. */
import type { editFile } from '../../shared/tools/edit-file.ts';
import type { ArgumentsOf } from './executor.ts';
import { editExecutor } from './proposal.ts';

export const executeEditFile = editExecutor<ArgumentsOf<typeof editFile>>((args) => ({
  path: args.target_file,
  edit: { kind: 'merge', text: args.code_edit },
}));
