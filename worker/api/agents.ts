/** `agents`: conversations that work in the background. */

import {
  Agent,
  AgentFollowUp,
  AgentList,
  AgentRequest,
  AgentsQuery,
  WebhookDeliveries,
} from '../../shared/api/agents.ts';
import { AgentStatus } from '../../shared/api/conversations.ts';
import { stillAskedBy } from '../account/caller.ts';
import { parseCursor } from '../account/cursor.ts';
import {
  archiveAgent,
  createAgent,
  followUp,
  readAgent,
  readDeliveries,
  stopAgent,
} from '../agents/desk.ts';
import { SUBMIT_ERRORS } from '../desk/accept.ts';
import { deleteConversation } from '../desk/delete.ts';
import { sentWith } from '../desk/idempotency.ts';
import { parse, parseMessage } from '../desk/parse.ts';
import {
  describePage,
  describeQuery,
  type Endpoint,
  IDEMPOTENCY_KEY,
  jsonAnswer,
} from '../endpoint.ts';
import { accountOf } from '../objects.ts';
import { reach } from '../reach.ts';
import { CONVERSATION_PARAMS, callerOf } from './path.ts';

const AGENTS = '/api/v1/agents';
const PARAMS = { id: { ...CONVERSATION_PARAMS.id, description: 'An agent.' } } as const;

const LIST_QUERY = describeQuery({
  schema: AgentsQuery,
  described: {
    ...describePage('agents'),
    status: {
      description: 'Lists only agents with this status. Without it, all that are not archived.',
      schema: { type: 'string', enum: AgentStatus.options },
    },
  },
});

const COMMON = { tag: 'Agents', access: 'user', needs: 'agents' } as const;

/** The endpoints of this file. */
export const AGENT_ENDPOINTS: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'createAgent',
    method: 'post',
    path: AGENTS,
    summary: 'Start an agent',
    description:
      'Begins a conversation that works on its own and returns at once. The id is that of the conversation: its documents, events, approvals and questions are found there.',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    body: { schema: AgentRequest, example: { prompt: 'Fix the failing tests.' } },
    answers: [jsonAnswer(201, 'The agent.', Agent)],
    errors: [...SUBMIT_ERRORS, 'WEBHOOK_NOT_ALLOWED', 'WORKTREES_NOT_SUPPORTED'],
    handle: async (c) => {
      const request = await parseMessage(c, AgentRequest);
      return c.json(await createAgent(c.env, request, sentWith(c)), 201);
    },
  },
  {
    ...COMMON,
    id: 'listAgents',
    method: 'get',
    path: AGENTS,
    summary: 'List agents',
    description: 'The agent that answered last comes first.',
    isHeavy: true,
    query: LIST_QUERY,
    answers: [jsonAnswer(200, 'A page of the list.', AgentList)],
    errors: ['INVALID_CURSOR'],
    handle: async (c) => {
      const { limit, cursor, status } = parse(AgentsQuery, c.req.query());
      const after = cursor === undefined ? null : parseCursor(cursor);
      const list = () =>
        accountOf(c.env, c.var.caller.sub).agents({ limit, after, status }, stillAskedBy(c));
      return c.json(await reach<AgentList>(list));
    },
  },
  {
    ...COMMON,
    id: 'getAgent',
    method: 'get',
    path: `${AGENTS}/{id}`,
    summary: 'Get an agent as it is now',
    params: PARAMS,
    answers: [jsonAnswer(200, 'The agent.', Agent)],
    handle: async (c) => c.json(await readAgent(c.env, callerOf(c))),
  },
  {
    ...COMMON,
    id: 'listDeliveries',
    method: 'get',
    path: `${AGENTS}/{id}/deliveries`,
    summary: 'List what its webhook got',
    description: 'The newest event comes first. Old ones are forgotten.',
    params: PARAMS,
    answers: [jsonAnswer(200, 'The events.', WebhookDeliveries)],
    handle: async (c) => c.json(await readDeliveries(c.env, callerOf(c))),
  },
  {
    ...COMMON,
    id: 'followUpAgent',
    method: 'post',
    path: `${AGENTS}/{id}/followup`,
    summary: 'Give an agent more to do',
    description:
      'Sends a message to its conversation and returns at once. A message to the conversation itself does the same.',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    params: PARAMS,
    body: { schema: AgentFollowUp, example: { prompt: 'Now the documentation.' } },
    answers: [jsonAnswer(200, 'The agent.', Agent)],
    errors: [...SUBMIT_ERRORS, 'AGENT_ARCHIVED'],
    handle: async (c) => {
      const caller = callerOf(c);
      await followUp(c.env, caller, await parseMessage(c, AgentFollowUp), sentWith(c));
      return c.json(await readAgent(c.env, caller));
    },
  },
  changing('stop', stopAgent, {
    summary: 'Stop an agent',
    description:
      'Cancels the current response and the messages that wait. A finished agent does not change.',
  }),
  changing('archive', (env, caller) => archiveAgent(env, caller, true), {
    summary: 'Stop an agent and put it away',
  }),
  changing('unarchive', (env, caller) => archiveAgent(env, caller, false), {
    summary: 'Bring an archived agent back',
  }),
  {
    ...COMMON,
    id: 'deleteAgent',
    isHeavy: true,
    method: 'delete',
    path: `${AGENTS}/{id}`,
    summary: 'Delete an agent with its conversation',
    params: PARAMS,
    answers: [{ status: 204, description: 'The agent is deleted.' }],
    handle: async (c) => {
      const caller = callerOf(c);
      await readAgent(c.env, caller); // Throws NOT_FOUND for a conversation that is no agent.
      await deleteConversation(c.env, caller);
      return c.body(null, 204);
    },
  },
];

/** A change without a body, which answers with the agent as it is then. */
function changing(
  verb: 'stop' | 'archive' | 'unarchive',
  change: typeof stopAgent,
  described: Pick<Endpoint, 'summary' | 'description'>,
): Endpoint {
  return {
    ...COMMON,
    ...described,
    id: `${verb}Agent`,
    method: 'post',
    path: `${AGENTS}/{id}/${verb}`,
    params: PARAMS,
    answers: [jsonAnswer(200, 'The agent.', Agent)],
    handle: async (c) => c.json(await change(c.env, callerOf(c))),
  };
}
