import * as z from 'zod';
import { TOOL_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

/** Finds code by a question in natural language. */
export const codebaseSearch = defineTool({
  name: 'codebase_search',
  aliases: ['SemanticSearch'],
  description:
    'Find the places in the code that answer a question, if you do not know the exact words to grep for. ' +
    'Ask a complete question, then add words that the code probably has for it: identifiers, names of errors, synonyms, ' +
    'such as "Where is the Flask app initialized? create_app Flask factory setup". ' +
    'The best places come first, with line numbers as in read_file. Ignored files are left out.',
  arguments: z.object({
    query: z
      .string()
      .min(1)
      .describe('A complete question about what you want to find, and likely words of the code'),
    target_directories: z
      .array(
        z.string().regex(/^[^*]*$/, {
          error: 'globs are not taken: name directories or files, or leave the list empty',
        }),
      )
      .max(TOOL_LIMITS.maxSearchedPlaces)
      .default([])
      .describe('Directories or files, relative to the workspace; empty for the whole workspace'),
    explanation: z.string().optional().describe('Why it is searched'),
  }),
  renamed: {},
  effect: 'read',
  changesContent: false,
  listsPaths: true,
  heldWith: ['read_file'],
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  subject: (args) => placesOf(args.target_directories)[0] ?? '.',
  subjects: (args) => placesOf(args.target_directories),
});

/** An empty path is the whole workspace; so is an empty list. */
function placesOf(paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? ['.'] : [...new Set(paths.map((path) => path || '.'))];
}
