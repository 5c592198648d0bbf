import * as z from 'zod';
import { defineTool } from './definition.ts';

/** Edits one cell of a Jupyter notebook. */
export const editNotebook = defineTool({
  name: 'edit_notebook',
  aliases: ['EditNotebook', 'NotebookEdit'],
  description:
    'Edit one cell of a Jupyter notebook, named by cell_id or cell_index as read_file shows them. ' +
    'Outputs of changed code are cleared.',
  arguments: z
    .object({
      target_notebook: z.string().min(1).describe('Path of the .ipynb file'),
      mode: z
        .enum(['replace', 'insert_before', 'insert_after', 'delete'])
        .optional()
        .describe('Default: replace'),
      cell_id: z.string().optional(),
      cell_index: z.int().nonnegative().optional().describe('Counted from 0'),
      cell_type: z.enum(['code', 'markdown', 'raw']).optional(),
      old_string: z
        .string()
        .min(1)
        .optional()
        .describe('A piece of the cell to replace; without it the whole source is replaced'),
      new_string: z.string().optional().describe('The new source, or the new piece'),
      keep_outputs: z.boolean().optional(),
    })
    .refine(({ cell_id: id, cell_index: index }) => (id ?? index) !== undefined, {
      message: 'give cell_id or cell_index',
    })
    .refine(({ mode, new_string: text }) => mode === 'delete' || text !== undefined, {
      message: 'give new_string',
    })
    .refine(({ mode = 'replace', old_string: old }) => mode === 'replace' || old === undefined, {
      message: 'old_string is for mode replace only: without it the mode is about the whole cell',
    }),
  renamed: {
    path: 'target_notebook',
    file_path: 'target_notebook',
    target_file: 'target_notebook',
    notebook_path: 'target_notebook',
    edit_mode: 'mode',
    cell_idx: 'cell_index',
    cell_number: 'cell_index',
    new_source: 'new_string',
  },
  // Of tools with `insert` behind a cell or at the start, and with `is_new_cell` and a language.
  ofOldForm: ({ is_new_cell: isNew, cell_language: language, ...args }) => {
    const { mode, cell_id: id, cell_index: index = 0, old_string: old, ...others } = args;
    const type = language === 'markdown' || language === 'raw' ? language : 'code';
    const isInsert = mode === 'insert' || String(isNew) === 'true';
    if (!isInsert) {
      const asked = language === undefined ? args : { cell_type: type, ...args };
      return old === '' ? { ...asked, old_string: undefined } : asked;
    }
    const place =
      mode === 'insert' && id !== undefined
        ? { mode: 'insert_after', cell_id: id }
        : { mode: 'insert_before', cell_index: index };
    return { cell_type: type, ...others, ...place };
  },
  effect: 'write',
  changesContent: true,
  listsPaths: false,
  heldWith: [],
  idempotent: false,
  executor: 'bridge',
  document: {
    type: 'file_edit',
    path: 'target_notebook',
    content: 'new_string',
    operation: 'edit',
  },
  subject: (args) => args.target_notebook,
});
