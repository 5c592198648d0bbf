/** `conversations/{id}/plans`: a person changes a plan, or has it executed. */

import { PlanExecution, PlanFileExecution, PlanSave } from '../../shared/api/requests.ts';
import { DocumentId } from '../../shared/ids.ts';
import { Plan, PlanEdit } from '../../shared/wire/plans.ts';
import { SUBMIT_ERRORS } from '../desk/accept.ts';
import { parseBody, parseId } from '../desk/parse.ts';
import { type Endpoint, IDEMPOTENCY_KEY, jsonAnswer } from '../endpoint.ts';
import { conversationOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import { reach } from '../reach.ts';
import { ANSWERED, answer } from './chat.ts';
import { CONVERSATION_PARAMS, CONVERSATIONS, callerOf } from './path.ts';

const PLAN_PARAMS = {
  ...CONVERSATION_PARAMS,
  documentId: { description: 'The newest `plan` of the conversation.', zod: DocumentId },
} as const;

/** The conversation writes the message that people and the model read. */
const EXECUTE = [{ role: 'user' as const, content: 'Execute the plan.' }];

const SAVE = [{ role: 'user' as const, content: 'Save the plan.' }];

const COMMON = { tag: 'Plans', access: 'user' } as const;

/** The endpoints of this file. */
export const PLANS: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'changePlan',
    needs: 'chat',
    method: 'put',
    path: `${CONVERSATIONS}/{id}/plans/{documentId}`,
    summary: 'Change a plan',
    description:
      'Replaces the title, the overview, the text and the todos. Todos that are left out are removed. All readers get the event `plan_update`, and the model gets the new plan. With `PLAN_CHANGED`, `details.plan` is the present plan.',
    params: PLAN_PARAMS,
    body: {
      schema: PlanEdit,
      example: {
        version: 1,
        title: 'Two languages',
        overview: 'main.py greets in German too.',
        content: 'Add a table of greetings to `main.py`.',
        todos: [
          { id: 'table', content: 'Add the table' },
          { id: 'tests', content: 'Test both languages', dependencies: ['table'] },
        ],
      },
    },
    answers: [jsonAnswer(200, 'The plan after the change.', Plan)],
    errors: ['SUPERSEDED', 'PLAN_CHANGED'],
    handle: async (c) => {
      const caller = callerOf(c);
      const documentId = parseId(DocumentId, c.req.param('documentId'), 'plan');
      const edit = await parseBody(c, PlanEdit);
      // A repeated change changes nothing, so it can be sent again after a reset of the object.
      const change = () => conversationOf(c.env, caller).changePlan(caller, documentId, edit);
      return c.json(unwrap<Plan>(await reach<Outcome<Plan>>(change)));
    },
  },
  {
    ...COMMON,
    id: 'executePlan',
    needs: 'chat',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/plans/{documentId}/execute`,
    summary: 'Execute a plan',
    description:
      'Begins a response that works through the todos of the plan, each after those that it depends on. The response begins with a `todo_update` that lists the todos. Todos that an earlier response has finished stay finished. Refused with `CONVERSATION_BUSY` while the conversation answers another message.',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    params: PLAN_PARAMS,
    body: { schema: PlanExecution, example: { version: 2, stream: true } },
    answers: [ANSWERED],
    errors: [...SUBMIT_ERRORS, 'SUPERSEDED', 'PLAN_CHANGED', 'PLAN_FINISHED'],
    handle: async (c) => {
      const { conversationId } = callerOf(c);
      const documentId = parseId(DocumentId, c.req.param('documentId'), 'plan');
      const { version, responseId, ...request } = await parseBody(c, PlanExecution);
      const message = { messages: EXECUTE, conversationId, delivery: 'reject' as const };
      const named = { documentId, responseId, version };
      return await answer(c, { ...request, ...message }, { type: 'plan', named });
    },
  },
  {
    ...COMMON,
    id: 'savePlan',
    needs: 'chat',
    method: 'post',
    path: `${CONVERSATIONS}/{id}/plans/{documentId}/save`,
    summary: 'Save a plan as a file',
    description:
      'Begins a response that writes the plan to `.cursor/plans/{name}.plan.md` in the workspace and asks no model. The bridge asks its owner first, as for an edit. Refused with `CONVERSATION_BUSY` while the conversation answers another message.',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    params: PLAN_PARAMS,
    body: { schema: PlanSave, example: { name: 'two-languages' } },
    answers: [ANSWERED],
    errors: [...SUBMIT_ERRORS, 'SUPERSEDED', 'PLAN_CHANGED'],
    handle: async (c) => {
      const { conversationId } = callerOf(c);
      const documentId = parseId(DocumentId, c.req.param('documentId'), 'plan');
      const { version, responseId, name, ...request } = await parseBody(c, PlanSave);
      const message = { messages: SAVE, conversationId, delivery: 'reject' as const };
      const named = { documentId, responseId, version };
      return await answer(c, { ...request, ...message }, { type: 'save', named, as: { name } });
    },
  },
  {
    ...COMMON,
    id: 'executePlanFile',
    needs: 'chat',
    method: 'post',
    path: '/api/v1/chat/plan/execute',
    summary: 'Execute a plan of a file',
    description:
      'Begins a response that reads the plan in the file `path` of the workspace, shows it as a `plan`, and works through its todos. In the conversation `conversationId`, or in a new one without it. The plan is then one of the conversation. A file that holds no plan ends the response with an `error` document `PLAN_UNREADABLE`.',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    body: { schema: PlanFileExecution, example: { path: '.cursor/plans/two-languages.plan.md' } },
    answers: [ANSWERED],
    errors: SUBMIT_ERRORS,
    handle: async (c) => {
      const { path, ...request } = await parseBody(c, PlanFileExecution);
      const content = `Execute the plan in ${path}.`;
      const message = {
        messages: [{ role: 'user' as const, content }],
        delivery: 'reject' as const,
      };
      const errand = { type: 'plan_file', planFile: path } as const;
      return await answer(c, { ...request, ...message }, errand);
    },
  },
];
