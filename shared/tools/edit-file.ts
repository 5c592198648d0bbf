import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Merges an edit that leaves out unchanged parts. */
export const editFile = defineTool({
  name: 'edit_file',
  aliases: [],
  description:
    'Edit a file by giving only the parts that change. Put a comment line `// ... existing code ...` (in the comment style ' +
    'of the language) in place of every part that stays, and include three to five unchanged lines on both sides of each ' +
    'change. An edit that fits in more than one place is refused. Without any such comment the text becomes the whole file.',
  arguments: z.object({
    target_file: z.string().min(1).describe('Path of the file, relative to the workspace'),
    instructions: z.string().optional().describe('One sentence on what the edit does'),
    code_edit: z.string().describe('The edit'),
  }),
  renamed: {
    path: 'target_file',
    file_path: 'target_file',
    filePath: 'target_file',
    instruction: 'instructions',
  },
  effect: 'write',
  changesContent: true,
  listsPaths: false,
  heldWith: [],
  idempotent: false,
  executor: 'bridge',
  document: { type: 'file_edit', path: 'target_file', content: 'code_edit', operation: 'edit' },
  subject: (args) => args.target_file,
});
