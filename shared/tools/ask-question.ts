import * as z from 'zod';
import { EDGE_TOOL_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

const { maxQuestions, maxOptions, maxIdChars, maxTodoChars } = EDGE_TOOL_LIMITS;

const Label = z.string().min(1).max(maxTodoChars);

/** Asks the user, and waits for the answer. */
export const askQuestion = defineTool({
  name: 'ask_question',
  aliases: ['AskQuestion'],
  description:
    'Ask the user what only they can decide, with options to choose from, and wait for the answer. Ask everything at ' +
    'once, and nothing that you can find out in the workspace.',
  arguments: z.object({
    title: z.string().max(maxTodoChars).optional().describe('One sentence before the questions'),
    questions: z
      .array(
        z.object({
          id: z.string().min(1).max(maxIdChars),
          prompt: Label.describe('The question'),
          options: z
            .array(z.object({ id: z.string().min(1).max(maxIdChars), label: Label }))
            .min(1)
            .max(maxOptions),
          allow_multiple: z.boolean().optional().describe('Whether several may be chosen'),
        }),
      )
      .min(1)
      .max(maxQuestions),
  }),
  renamed: {},
  effect: 'read',
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  modes: ['agent', 'plan', 'debug'],
  idempotent: true,
  executor: 'edge',
  document: { type: 'clarification', content: 'title' },
  subject: () => '',
});
