import * as z from 'zod';
import { EDGE_TOOL_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

const { maxTodos, maxIdChars, maxTodoChars, maxPlanChars } = EDGE_TOOL_LIMITS;

/** Shows a plan to the user. Its todos become the conversation's list. */
export const createPlan = defineTool({
  name: 'create_plan',
  aliases: ['CreatePlan'],
  description:
    'Present a plan to the user, once you have read enough and have nothing left to ask: in plan mode, or if the user wants ' +
    'one. The user reviews it as a document; the call itself changes nothing. A new call replaces the earlier plan.',
  arguments: z.object({
    name: z.string().min(1).max(maxIdChars).describe('Name of the plan, three or four words'),
    overview: z.string().max(maxTodoChars).describe('One or two sentences on what it does'),
    plan: z
      .string()
      .min(1)
      .max(maxPlanChars)
      .describe('The plan in Markdown, with the files it concerns'),
    todos: z
      .array(
        z.object({
          id: z.string().min(1).max(maxIdChars).describe('Short and stable, such as `add-tests`'),
          content: z.string().max(maxTodoChars).describe('What is to be done'),
          dependencies: z
            .array(z.string().max(maxIdChars))
            .max(maxTodos)
            .default([])
            .describe('Ids of the todos that come first'),
        }),
      )
      .max(maxTodos)
      .default([]),
  }),
  renamed: { title: 'name' },
  effect: 'read',
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  modes: ['agent', 'plan'],
  idempotent: true,
  executor: 'edge',
  document: { type: 'plan', content: 'plan' },
  subject: () => '',
});
