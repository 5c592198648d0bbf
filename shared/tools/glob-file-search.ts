import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Finds files by a pattern of their path. */
export const globFileSearch = defineTool({
  name: 'glob_file_search',
  aliases: ['Glob'],
  description:
    'Find files by a glob such as `*.ts` or `src/**/*.test.ts`. A pattern without `**/` matches at any depth. ' +
    'The newest files come first. The result says if it is cut.',
  arguments: z.object({
    glob_pattern: z.string().min(1).describe('The glob'),
    target_directory: z.string().default('.').describe('Where to look, relative to the workspace'),
  }),
  renamed: { pattern: 'glob_pattern', path: 'target_directory' },
  effect: 'read',
  changesContent: false,
  listsPaths: true,
  heldWith: ['list_dir'],
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  subject: (args) => args.target_directory,
});
