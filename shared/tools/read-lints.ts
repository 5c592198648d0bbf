import * as z from 'zod';
import { TOOL_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

/** Reads what the language servers find wrong in files. */
export const readLints = defineTool({
  name: 'read_lints',
  aliases: ['ReadLints'],
  description: 'Read the errors and warnings that language servers find in files.',
  arguments: z.object({
    paths: z
      .array(z.string().min(1))
      .min(1)
      .max(TOOL_LIMITS.maxLintedFiles)
      .describe('Paths of files, relative to the workspace'),
  }),
  renamed: { path: 'paths', file_path: 'paths', target_file: 'paths', file_paths: 'paths' },
  effect: 'read',
  changesContent: false,
  listsPaths: false,
  heldWith: ['read_file'],
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  subject: ({ paths: [first = '.'] }) => first,
  subjects: ({ paths }) => paths,
});
