import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Replaces one exact piece of a file. */
export const strReplace = defineTool({
  name: 'str_replace',
  aliases: ['StrReplace', 'search_replace'],
  description:
    'Replace text in a file. old_string must occur exactly once in the file (include a few lines around the change), ' +
    'unless replace_all is set. Read the file first. Leave out the line numbers that read_file shows.',
  arguments: z.object({
    file_path: z.string().min(1).describe('Path of the file, relative to the workspace'),
    old_string: z.string().min(1).describe('The text to replace, exactly as in the file'),
    new_string: z.string().describe('The text to put in its place'),
    replace_all: z.boolean().optional().describe('Replace every occurrence'),
  }),
  renamed: {
    path: 'file_path',
    target_file: 'file_path',
    filePath: 'file_path',
    old_str: 'old_string',
    new_str: 'new_string',
    oldString: 'old_string',
    newString: 'new_string',
    replaceAll: 'replace_all',
  },
  effect: 'write',
  changesContent: true,
  heldWith: [],
  idempotent: false,
  executor: 'bridge',
  document: { type: 'file_edit', path: 'file_path', content: 'new_string', operation: 'edit' },
  subject: (args) => args.file_path,
});
