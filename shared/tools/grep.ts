import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Searches text with ripgrep. */
export const grep = defineTool({
  name: 'grep',
  aliases: ['Grep', 'grep_search'],
  description:
    'Search file contents with a regular expression (ripgrep). Ignored files are left out. ' +
    'Use output_mode files_with_matches or count for an overview.',
  arguments: z.object({
    pattern: z.string().min(1).describe('The regular expression'),
    path: z.string().optional().describe('File or directory to search, relative to the workspace'),
    glob: z.string().optional().describe('Only files whose path matches this glob, such as `*.ts`'),
    output_mode: z.enum(['content', 'files_with_matches', 'count']).default('content'),
    '-A': z.int().min(0).max(50).optional().describe('Lines to show after each match'),
    '-B': z.int().min(0).max(50).optional().describe('Lines to show before each match'),
    '-C': z.int().min(0).max(50).optional().describe('Lines to show around each match'),
    '-i': z.boolean().optional().describe('Ignore case'),
    type: z.string().optional().describe('Only files of this type, such as `ts` or `py`'),
    head_limit: z.int().positive().optional().describe('At most this many lines or entries'),
    multiline: z.boolean().optional().describe('Let the pattern match over line ends'),
  }),
  renamed: { query: 'pattern', include_pattern: 'glob', include: 'glob' },
  effect: 'read',
  changesContent: false,
  listsPaths: true,
  heldWith: ['read_file'],
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  subject: (args) => args.path ?? '.',
});
