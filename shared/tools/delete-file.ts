import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Deletes one file. */
export const deleteFile = defineTool({
  name: 'delete_file',
  aliases: ['Delete'],
  description: 'Delete a file of the workspace.',
  arguments: z.object({
    target_file: z.string().min(1).describe('Path of the file, relative to the workspace'),
    explanation: z.string().optional().describe('Why it is deleted'),
  }),
  renamed: { path: 'target_file', file_path: 'target_file', filePath: 'target_file' },
  effect: 'write',
  changesContent: false,
  listsPaths: false,
  // A file that must not change must not be deleted either.
  heldWith: ['write'],
  idempotent: false,
  executor: 'bridge',
  document: { type: 'file_edit', path: 'target_file', content: null, operation: 'delete' },
  subject: (args) => args.target_file,
});
