import * as z from 'zod';
import { EDGE_TOOL_LIMITS } from '../limits.ts';
import { TodoStatus } from '../wire/documents.ts';
import { defineTool } from './definition.ts';

const { maxTodos, maxIdChars, maxTodoChars } = EDGE_TOOL_LIMITS;

/** Keeps the conversation's list of todos. */
export const todoWrite = defineTool({
  name: 'todo_write',
  aliases: ['TodoWrite'],
  description:
    'Keep a list of todos for a task of three or more steps: write it when you start, set one todo in_progress at a time, ' +
    'and complete each as soon as it is done. With merge true, todos are matched by id, and fields that you leave out stay; ' +
    'with merge false, the list is replaced. Not for a single simple step.',
  arguments: z.object({
    merge: z.boolean().default(true).describe('Change the list by id, or replace it'),
    todos: z
      .array(
        z.object({
          id: z.string().min(1).max(maxIdChars).describe('Short and stable, such as `add-tests`'),
          content: z.string().max(maxTodoChars).optional().describe('What is to be done'),
          status: TodoStatus.optional(),
        }),
      )
      .min(1)
      .max(maxTodos),
  }),
  renamed: {},
  effect: 'read',
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  modes: ['agent', 'debug'],
  idempotent: true,
  executor: 'edge',
  document: { type: 'todo_update' },
  subject: () => '',
});
