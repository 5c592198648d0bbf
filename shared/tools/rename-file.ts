import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Renames one file, within its folder or into another one. */
export const renameFile = defineTool({
  name: 'rename_file',
  aliases: ['Rename', 'Move', 'move_file'],
  description:
    'Rename a file of the workspace, or move it into another folder, which is created if it is missing. It fails if a ' +
    'file already has the new name. References to the file in other files are not changed.',
  arguments: z.object({
    target_file: z.string().min(1).describe('Path of the file, relative to the workspace'),
    new_path: z.string().min(1).describe('Its whole path afterwards, relative to the workspace'),
    explanation: z.string().optional().describe('Why it is renamed'),
  }),
  renamed: {
    path: 'target_file',
    file_path: 'target_file',
    source: 'target_file',
    old_path: 'target_file',
    destination: 'new_path',
    target_path: 'new_path',
  },
  effect: 'write',
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  parts: ['delete_file', 'write'],
  idempotent: false,
  executor: 'bridge',
  document: {
    type: 'file_edit',
    path: 'target_file',
    content: null,
    operation: 'rename',
    newPath: 'new_path',
  },
  subject: (args) => args.target_file,
  subjects: (args) => [args.target_file, args.new_path],
});
