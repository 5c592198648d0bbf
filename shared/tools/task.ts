import * as z from 'zod';
import { SUBAGENT_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

const { maxDescriptionChars, maxPromptChars, maxNameChars } = SUBAGENT_LIMITS;

/** Gives a task to a subagent, and waits for its one answer. */
export const task = defineTool({
  name: 'task',
  aliases: ['Task'],
  description:
    'Give a task to a subagent, which works by itself and answers once; its last message is the result of the call. It knows ' +
    'nothing of this conversation, so the prompt must contain everything: what to find or do, where, and what to answer. ' +
    'Send tasks that do not need each other in one reply; up to four run at once. Types: explore (searches and reads, ' +
    'changes nothing, quick), generalPurpose (can do all that you may do), browser-use (a browser, if one is configured). ' +
    'An answer may start 40 in all. Each generalPurpose one keeps up to four more for its own use, so 18 if all are of that ' +
    'type. Use it for wide searches and separate pieces of work. Do yourself what takes only a few calls.',
  arguments: z.object({
    description: z
      .string()
      .min(1)
      .max(maxDescriptionChars)
      .describe('The task in three to five words, for the user'),
    prompt: z.string().min(1).max(maxPromptChars).describe('The whole task'),
    subagent_type: z.string().min(1).max(maxNameChars).describe('The type of subagent'),
    model: z
      .string()
      .min(1)
      .max(maxNameChars)
      .optional()
      .describe('Another model, only if the user names one'),
  }),
  renamed: { type: 'subagent_type', agent: 'subagent_type' },
  // A subagent is bound to the mode of its starter, so even read-only modes can have some.
  effect: 'read',
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  idempotent: true,
  executor: 'agent',
  document: { type: 'tool_call' },
  shows: ['description'],
  subject: () => '',
});
