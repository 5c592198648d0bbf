import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Finds code by a question in natural language. */
export const codebaseSearch = defineTool({
  name: 'codebase_search',
  aliases: ['SemanticSearch'],
  description:
    'Find the places in the code that answer a question, when you do not know the exact words to grep for. ' +
    'Ask a whole question with the words the code probably uses, such as "Where is the Flask app initialized?". ' +
    'The best places come first, with their lines numbered as read_file does it. Ignored files are left out.',
  arguments: z.object({
    query: z.string().min(1).describe('A complete question about what you want to find'),
    target_directories: z
      .array(
        z.string().regex(/^[^*]*$/, {
          error: 'globs are not taken: name one directory or file, or leave the list empty',
        }),
      )
      .max(1, {
        error: 'at most one directory or file: search the others with calls of their own',
      })
      .default([])
      .describe('One directory or file, relative to the workspace; empty for the whole workspace'),
    explanation: z.string().optional().describe('Why it is searched'),
  }),
  renamed: {},
  effect: 'read',
  idempotent: true,
  document: { type: 'tool_call' },
  subject: (args) => args.target_directories[0] || '.',
});
