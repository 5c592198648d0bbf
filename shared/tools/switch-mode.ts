import * as z from 'zod';
import { EDGE_TOOL_LIMITS, REQUEST_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

/** Asks the user to let the run go on in another mode. Only their yes switches it. */
export const switchMode = defineTool({
  name: 'switch_mode',
  aliases: ['SwitchMode'],
  description:
    'Ask the user to continue in another mode, if the current one prevents what they want: agent mode if they ask for a ' +
    'change in ask or plan mode, plan mode if a task needs a plan first. The user decides.',
  arguments: z.object({
    mode: z
      .string()
      .min(1)
      .max(REQUEST_LIMITS.maxNameChars)
      .describe('`agent`, `plan`, `ask`, `debug`, or a mode of the workspace'),
    reason: z
      .string()
      .min(1)
      .max(EDGE_TOOL_LIMITS.maxTodoChars)
      .describe('One sentence for the user: why'),
  }),
  renamed: { target_mode_id: 'mode', target_mode: 'mode', explanation: 'reason' },
  effect: 'read',
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  idempotent: true,
  executor: 'edge',
  document: { type: 'clarification', content: 'reason' },
  subject: () => '',
});
