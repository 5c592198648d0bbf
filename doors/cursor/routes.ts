/** Cursor's Cloud Agents API v1: each of its agents is an agent of ours, each run a response. */
import * as z from 'zod';
import { AgentFollowUp, AgentRequest } from '../../shared/api/agents.ts';
import { PageSize } from '../../shared/api/conversations.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { parseResponseId } from '../../shared/ids.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { describePage, describeQuery, IDEMPOTENCY_KEY, jsonAnswer } from '../../worker/door.ts';
import type { Route } from './core.ts';
import {
  agentIdIn,
  agentOf,
  listRuns,
  PARAMS,
  RUN_PARAMS,
  readResponse,
  readRun,
  readUsage,
  responseIdOf,
} from './runs.ts';
import {
  CursorAgent,
  CursorAgentAndRun,
  CursorAgentRequest,
  CursorAgents,
  CursorId,
  CursorMe,
  CursorNewRun,
  CursorRun,
  CursorRunRequest,
  CursorRuns,
  CursorUsage,
} from './schemas.ts';
import { contentOf, conversationIdOf, refuseElsewhere, toAgent, toRun } from './shapes.ts';
import { CURSOR_STREAM } from './stream.ts';

const AGENTS = '/v1/agents';
const SUBMIT_ERRORS = [
  ...([
    'BRIDGE_NOT_NAMED',
    'UNKNOWN_MODEL',
    'MODEL_NOT_PRIVATE',
    'IMAGES_NOT_SUPPORTED',
    'CONVERSATION_FULL',
  ] as const),
  'IDEMPOTENCY_CONFLICT',
] as const;

const Query = z.object({
  limit: PageSize.default(REQUEST_LIMITS.pageSize),
  cursor: z.string().max(REQUEST_LIMITS.maxNameChars).optional(),
});

const AgentsQuery = Query.extend({ includeArchived: z.enum(['true', 'false']).optional() });

const UsageQuery = z.object({ runId: z.string().max(REQUEST_LIMITS.maxNameChars).optional() });

/** The stream shows the model's reasoning. */
const include = ['reasoning'];

const COMMON = { tag: 'Cursor', access: 'user', needs: 'agents' } as const;

/** The endpoints of this file. */
export const CURSOR_ROUTES: readonly Route[] = [
  {
    ...COMMON,
    id: 'createCursorAgent',
    method: 'post',
    path: AGENTS,
    summary: 'Start an agent',
    description:
      'The agent works in a worktree of its own at the bridge that the token names, or at the account’s only one, and commits. Fields for repositories elsewhere are refused.',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    body: { schema: CursorAgentRequest, example: { prompt: { text: 'Fix the failing tests.' } } },
    answers: [jsonAnswer(201, 'Both.', CursorAgentAndRun)],
    errors: [...SUBMIT_ERRORS, 'AGENT_ID_CONFLICT', 'NOT_IMPLEMENTED', 'WORKTREES_NOT_SUPPORTED'],
    handle: async (c, core) => {
      const body = await core.readBody(CursorAgentRequest);
      refuseElsewhere(body);
      const { prompt, model, name, mode, agentId } = body;
      const wanted = { prompt: contentOf(prompt), model: model?.id, title: name, mode, include };
      const request = core.parse(AgentRequest, wanted);
      const newId = agentId && conversationIdOf(agentId);
      const agent = await core.create(request, newId);
      const { id, responseId } = agent;
      const run = toRun(await readResponse(core, id, responseId), agentId);
      return c.json({ agent: toAgent(agent, core.origin, { agentId, responseId }), run }, 201);
    },
  },
  {
    ...COMMON,
    id: 'listCursorAgents',
    method: 'get',
    path: AGENTS,
    summary: 'List agents',
    query: describeQuery({
      schema: AgentsQuery,
      described: {
        ...describePage('agents'),
        includeArchived: {
          description: 'Lists archived agents, too.',
          schema: { type: 'boolean', default: false },
        },
      },
    }),
    answers: [jsonAnswer(200, 'A page of the list.', CursorAgents)],
    errors: ['INVALID_CURSOR'],
    handle: async (c, core) => {
      const { limit, cursor, includeArchived } = core.parse(AgentsQuery, c.req.query());
      const status = includeArchived === 'true' ? 'any' : undefined;
      const { items, nextCursor } = await core.list({ limit, cursor, status });
      const agents = items.map((item) => toAgent(item, core.origin));
      return c.json({ items: agents, ...(nextCursor !== null && { nextCursor }) });
    },
  },
  {
    ...COMMON,
    id: 'getCursorAgent',
    method: 'get',
    path: `${AGENTS}/{id}`,
    summary: 'Get an agent',
    params: PARAMS,
    answers: [jsonAnswer(200, 'The agent.', CursorAgent)],
    handle: async (c, core) => {
      const agent = await core.read(agentOf(c));
      const { responseId } = agent;
      return c.json(toAgent(agent, core.origin, { agentId: agentIdIn(c), responseId }));
    },
  },
  {
    ...COMMON,
    id: 'deleteCursorAgent',
    method: 'delete',
    path: `${AGENTS}/{id}`,
    summary: 'Delete an agent',
    params: PARAMS,
    answers: [jsonAnswer(200, 'Its id.', CursorId)],
    handle: async (c, core) => {
      await core.delete(agentOf(c));
      return c.json({ id: agentIdIn(c) });
    },
  },
  ...(['archive', 'unarchive'] as const).map(
    (verb): Route => ({
      ...COMMON,
      id: `${verb}CursorAgent`,
      method: 'post',
      path: `${AGENTS}/{id}/${verb}`,
      summary: verb === 'archive' ? 'Stop an agent and put it away' : 'Bring an agent back',
      params: PARAMS,
      answers: [jsonAnswer(200, 'Its id.', CursorId)],
      handle: async (c, core) => {
        await core.archive(agentOf(c), verb === 'archive');
        return c.json({ id: agentIdIn(c) });
      },
    }),
  ),
  {
    ...COMMON,
    id: 'createCursorRun',
    method: 'post',
    path: `${AGENTS}/{id}/runs`,
    summary: 'Give an agent more to do',
    rate: 'run',
    headers: [IDEMPOTENCY_KEY],
    params: PARAMS,
    body: { schema: CursorRunRequest, example: { prompt: { text: 'Now the documentation.' } } },
    answers: [jsonAnswer(201, 'The run.', CursorNewRun)],
    errors: [...SUBMIT_ERRORS, 'NOT_IMPLEMENTED', 'AGENT_BUSY', 'AGENT_ARCHIVED'],
    handle: async (c, core) => {
      const body = await core.readBody(CursorRunRequest);
      refuseElsewhere(body);
      const { prompt, model, mode } = body;
      const asked = { prompt: contentOf(prompt), model: model?.id, mode, include };
      const request = core.parse(AgentFollowUp, { ...asked, delivery: 'reject' });
      const { responseId } = await core.followUp(agentOf(c), request).catch(asBusy);
      return c.json({ run: await readRun(c, core, responseId) }, 201);
    },
  },
  {
    ...COMMON,
    id: 'listCursorRuns',
    method: 'get',
    path: `${AGENTS}/{id}/runs`,
    summary: 'List the runs of an agent',
    params: PARAMS,
    query: describeQuery({ schema: Query, described: describePage('runs') }),
    answers: [jsonAnswer(200, 'The newest first.', CursorRuns)],
    errors: ['INVALID_CURSOR'],
    handle: async (c, core) => c.json(await listRuns(c, core, core.parse(Query, c.req.query()))),
  },
  {
    ...COMMON,
    id: 'getCursorRun',
    method: 'get',
    path: `${AGENTS}/{id}/runs/{runId}`,
    summary: 'Get a run',
    params: RUN_PARAMS,
    answers: [jsonAnswer(200, 'The run.', CursorRun)],
    handle: async (c, core) => c.json(await readRun(c, core, responseIdOf(c))),
  },
  {
    ...COMMON,
    id: 'cancelCursorRun',
    method: 'post',
    path: `${AGENTS}/{id}/runs/{runId}/cancel`,
    summary: 'Cancel a run',
    params: RUN_PARAMS,
    answers: [jsonAnswer(200, 'Its id.', CursorId)],
    errors: ['RUN_NOT_CANCELLABLE'],
    handle: async (c, core) => {
      const { id, status } = await readRun(c, core, responseIdOf(c));
      if (status !== 'RUNNING' && status !== 'CREATING') {
        throw new DrawbridgeError('RUN_NOT_CANCELLABLE', 'The run is over');
      }
      const { ordinal } = parseResponseId(responseIdOf(c));
      await core.cancel(agentOf(c), ordinal);
      return c.json({ id });
    },
  },
  CURSOR_STREAM,
  {
    ...COMMON,
    id: 'getCursorUsage',
    method: 'get',
    path: `${AGENTS}/{id}/usage`,
    summary: 'Get what an agent has spent',
    params: PARAMS,
    query: describeQuery({
      schema: UsageQuery,
      described: { runId: { description: 'Only this run: `run-<uuid>`.' } },
    }),
    answers: [jsonAnswer(200, 'The tokens of its runs, with those of subagents.', CursorUsage)],
    handle: async (c, core) => {
      const { runId } = core.parse(UsageQuery, c.req.query());
      return c.json(await readUsage(core, agentOf(c), runId));
    },
  },
  {
    ...COMMON,
    id: 'getCursorMe',
    method: 'get',
    path: '/v1/me',
    summary: 'Get the caller’s account',
    answers: [jsonAnswer(200, 'The account, as the name of an API key.', CursorMe)],
    handle: (c, { account }) => c.json({ apiKeyName: account, createdAt: UNKNOWN_TIME }),
  },
];

/** Clients want a time, but a token does not say when it was made. */
const UNKNOWN_TIME = new Date(0).toISOString();

function asBusy(error: unknown): never {
  if (error instanceof DrawbridgeError && error.code === 'CONVERSATION_BUSY') {
    throw new DrawbridgeError('AGENT_BUSY', 'The agent is busy: wait, or cancel its run');
  }
  throw error;
}
