/** Runs write: a whole file at once. */
import type { write } from '../../shared/tools/write.ts';
import type { ArgumentsOf } from './executor.ts';
import { editExecutor } from './proposal.ts';

export const executeWrite = editExecutor<ArgumentsOf<typeof write>>((args) => ({
  path: args.path,
  edit: { kind: 'write', text: args.contents },
}));
