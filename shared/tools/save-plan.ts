import * as z from 'zod';
import { EDGE_TOOL_LIMITS } from '../limits.ts';
import { PLAN_FILE } from '../wire/plan-file.ts';
import { defineTool } from './definition.ts';

/** Saves a plan as a file, at a person's request. In no catalogue; the bridge always asks its owner. */
export const savePlan = defineTool({
  name: 'save_plan',
  aliases: [],
  description: 'Saves a plan as a file.',
  arguments: z.object({
    path: z.string().regex(PLAN_FILE),
    contents: z.string().max(2 * EDGE_TOOL_LIMITS.maxWholePlanChars),
  }),
  renamed: {},
  effect: 'write',
  changesContent: true,
  listsPaths: false,
  heldWith: [],
  idempotent: true,
  executor: 'bridge',
  document: { type: 'file_edit', path: 'path', content: 'contents', operation: 'create' },
  subject: (args) => args.path,
});
