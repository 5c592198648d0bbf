import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Reads a text file with its line numbers. */
export const readFile = defineTool({
  name: 'read_file',
  aliases: ['Read'],
  description:
    'Read a text file of the workspace. Lines come numbered from 1 as `N|text`; the prefix is not part of the file. ' +
    'Without offset and limit the whole file is read, up to a bound that the result names.',
  arguments: z.object({
    target_file: z.string().min(1).describe('Path of the file, relative to the workspace'),
    offset: z
      .int()
      .optional()
      .describe('First line to read, counted from 1; negative counts from the end'),
    limit: z.int().positive().optional().describe('How many lines to read'),
  }),
  renamed: { path: 'target_file', file_path: 'target_file', start_line_one_indexed: 'offset' },
  effect: 'read',
  changesContent: false,
  heldWith: [],
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  subject: (args) => args.target_file,
});
