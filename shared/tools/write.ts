import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Writes a whole file. */
export const write = defineTool({
  name: 'write',
  aliases: ['Write', 'write_file'],
  description:
    'Create a file, or replace the whole content of one. Missing folders are created. ' +
    'Read an existing file before you replace it.',
  arguments: z.object({
    path: z.string().min(1).describe('Path of the file, relative to the workspace'),
    contents: z.string().describe('The whole content'),
  }),
  renamed: {
    file_path: 'path',
    target_file: 'path',
    filePath: 'path',
    content: 'contents',
    fileText: 'contents',
    file_text: 'contents',
  },
  effect: 'write',
  changesContent: true,
  listsPaths: false,
  heldWith: [],
  idempotent: true,
  executor: 'bridge',
  document: { type: 'file_edit', path: 'path', content: 'contents', operation: 'create' },
  subject: (args) => args.path,
});
