import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Lists one directory. */
export const listDir = defineTool({
  name: 'list_dir',
  aliases: ['LS'],
  description:
    'List the files and folders of one directory of the workspace. Hidden and ignored ones are left out.',
  arguments: z.object({
    target_directory: z.string().default('.').describe('Directory, relative to the workspace'),
    ignore_globs: z.array(z.string()).optional().describe('Globs of entries to leave out'),
  }),
  renamed: {
    path: 'target_directory',
    relative_workspace_path: 'target_directory',
    dir_path: 'target_directory',
    ignore: 'ignore_globs',
  },
  effect: 'read',
  changesContent: false,
  listsPaths: true,
  heldWith: ['glob_file_search'],
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  subject: (args) => args.target_directory,
});
