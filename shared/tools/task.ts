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
    'nothing of this conversation, so the prompt must say everything: what to find or do, where, and what to answer. ' +
    'Tasks that do not need each other go out in one reply and run at once, up to four. Types: explore (searches and reads, ' +
    'changes nothing, quick), generalPurpose (all that you may do), browser-use (a browser, where one is configured). ' +
    'An answer may start 40 in all; each generalPurpose one takes up to four more of them for its own, so 18 if all are of that type. ' +
    'Use it for wide searches and separate pieces of work. What a few calls of your own can do, do yourself.',
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
      .describe('Another model, only where the user names one'),
  }),
  renamed: { type: 'subagent_type', agent: 'subagent_type' },
  // A subagent is bound to the mode of its starter, so even read-only modes can have some.
  effect: 'read',
  changesContent: false,
  heldWith: [],
  idempotent: true,
  executor: 'agent',
  document: { type: 'tool_call' },
  subject: () => '',
});
