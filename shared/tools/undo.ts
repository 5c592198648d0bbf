/**
 * The tools that take back what calls changed in files (bridge/checkpoints/). Drawbridge makes these calls itself, at a
 * person's request. No model has the tools, and they are in no catalogue. Each may be repeated.
 *
 * Error codes: `NOTHING_TO_UNDO`, `UNDO_CHANGED`, `UNDO_BUSY`.
 */
import { UndoFields } from '../wire/undo.ts';
import { defineTool } from './definition.ts';

const OF_BRIDGE = {
  aliases: [],
  arguments: UndoFields,
  renamed: {},
  effect: 'write',
  changesContent: true,
  listsPaths: false,
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  // The rules for the files themselves hold as well: each one is resolved as a file to change.
  subject: () => '.',
} as const;

/** Shows what an undo would do, as differences. The same rules hold it, so that it shows what the undo may do. */
export const previewUndo = defineTool({
  ...OF_BRIDGE,
  name: 'preview_undo',
  description: 'Shows what an undo would do.',
  heldWith: ['read_file', 'delete_file', 'undo_changes'],
});

/** Takes changes back. It leaves each file as it is that has changed since in the same lines. */
export const undoChanges = defineTool({
  ...OF_BRIDGE,
  name: 'undo_changes',
  description: 'Takes back changes to files.',
  heldWith: ['read_file', 'delete_file'],
});
