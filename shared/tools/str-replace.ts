import * as z from 'zod';
import { TOOL_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

const PIECE = {
  old_string: z.string().min(1),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
};

/** Replaces exact pieces of a file: one, or several of which all or none are replaced. */
export const strReplace = defineTool({
  name: 'str_replace',
  aliases: ['StrReplace', 'search_replace', 'MultiEdit'],
  description:
    'Replace text in a file. old_string must occur exactly once in the file (include a few lines around the change), ' +
    'unless replace_all is set. For several changes of one file give edits instead: they are made in order, all or none. ' +
    'Read the file first. Leave out the line numbers that read_file shows.',
  arguments: z
    .object({
      file_path: z.string().min(1).describe('Path of the file, relative to the workspace'),
      old_string: PIECE.old_string
        .optional()
        .describe('The text to replace, exactly as in the file'),
      new_string: PIECE.new_string.optional().describe('The text to put in its place'),
      replace_all: PIECE.replace_all.describe('Replace every occurrence'),
      edits: z.array(z.object(PIECE)).max(TOOL_LIMITS.maxPieces).optional(),
    })
    .refine(
      ({ old_string: old, new_string: fresh, edits }) =>
        edits === undefined || edits.length === 0
          ? old !== undefined && fresh !== undefined
          : old === undefined && fresh === undefined,
      { message: 'give either old_string and new_string, or edits' },
    ),
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
  listsPaths: false,
  heldWith: [],
  idempotent: false,
  executor: 'bridge',
  document: { type: 'file_edit', path: 'file_path', content: 'new_string', operation: 'edit' },
  subject: (args) => args.file_path,
});
