import * as z from 'zod';
import { CallId } from '../ids.ts';
import { defineTool } from './definition.ts';

/** Lets a person decide about a guest's change. Only the bridge begins these calls: no model has the tool. */
export const guestEdit = defineTool({
  name: 'guest_edit',
  aliases: [],
  description: 'A change to a file that another program on the machine proposes.',
  arguments: z.object({
    /** Names the proposal, whose content only the bridge has. */
    proposal: CallId,
    /** Relative to the workspace, or absolute. */
    path: z.string().min(1),
  }),
  renamed: {},
  effect: 'write',
  changesContent: true,
  listsPaths: false,
  heldWith: [],
  idempotent: false,
  executor: 'bridge',
  document: { type: 'file_edit', path: 'path', content: null, operation: 'edit' },
  subject: (args) => args.path,
});
