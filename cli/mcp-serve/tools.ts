/** The tools of `drawbridge mcp serve`. None of them approves a call or answers a question: that is a person's. */
import * as z from 'zod';
import type { Agent, AgentInput, AgentStatus } from '../../client/index.ts';
import { AgentRequest, AgentsQuery } from '../../shared/api/agents.ts';
import { ConversationId } from '../../shared/ids.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { describeProposal } from '../../shared/shown/proposal.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { SECOND } from '../../shared/units.ts';
import { agentLine, agentText } from '../agents/shown.ts';
import type { Chat } from '../chat/chat.ts';
import { CLI_LIMITS } from '../limits.ts';

/** What a call of a tool works with. */
export interface ToolDesk extends Pick<Chat, 'client' | 'bridgeId'> {
  readonly signal: AbortSignal;
  /** Shows the client that something goes on. */
  onProgress(message: string): Promise<void>;
}

/** What a client reads of a tool. */
interface ServedTool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** For the model. */
  readonly description: string;
  readonly input: Input;
  readonly isReading: boolean;
}

export interface AgentTool extends ServedTool {
  /** Resolves to text for a model. @throws {z.ZodError} for arguments that are not those of `input`. */
  call(given: unknown, desk: ToolDesk): Promise<string>;
}

function tool<Input extends z.ZodObject>({
  run,
  ...facts
}: ServedTool<Input> & {
  run(args: z.infer<Input>, desk: ToolDesk): Promise<string>;
}): AgentTool {
  return { ...facts, call: (given, desk) => run(facts.input.parse(given), desk) };
}

const AgentId = z.strictObject({ id: ConversationId });

const { title, model, mode, branch, base, commit } = AgentRequest.shape;
const prompt = z.string().min(1).max(REQUEST_LIMITS.maxMessageChars);

export const TOOLS: readonly AgentTool[] = [
  tool({
    name: 'start_agent',
    title: 'Start an agent',
    description:
      'Starts a coding agent on a task, in a git worktree and branch of its own, and returns its id at once. ' +
      'With in_place it works in the folder itself.',
    input: z.strictObject({
      prompt,
      title,
      model,
      mode,
      branch,
      base,
      commit,
      in_place: z.boolean().optional(),
    }),
    isReading: false,
    run: async ({ in_place: isInPlace, ...wanted }, { client, bridgeId }) => {
      const request: AgentInput = {
        ...wanted,
        ...(bridgeId !== undefined && { bridgeId }),
        ...(isInPlace && { workspace: 'in_place' }),
      };
      return agentText(await client.createAgent(request));
    },
  }),
  tool({
    name: 'get_agent',
    title: 'Look at an agent',
    description: "An agent's status, its last words and what it has changed.",
    input: AgentId,
    isReading: true,
    run: async ({ id }, { client, signal }) => agentText(await client.getAgent(id, signal)),
  }),
  tool({
    name: 'follow_agent',
    title: 'Follow an agent',
    description:
      'Waits until the agent has finished or waits for a person, at most as long as asked, and returns what ' +
      'get_agent returns.',
    input: AgentId.extend({
      seconds: z.int().min(1).max(CLI_LIMITS.maxFollowSeconds).default(CLI_LIMITS.followSeconds),
    }),
    isReading: true,
    run: async ({ id, seconds }, desk) => agentText(await followAgent(id, seconds, desk)),
  }),
  tool({
    name: 'steer_agent',
    title: 'Send an agent a message',
    description:
      'Sends an agent a message. steer: it gets it in the middle of its work. queue: after it. interrupt: it stops ' +
      'what it does.',
    input: AgentId.extend({
      prompt,
      delivery: z.enum(['steer', 'queue', 'interrupt']).default('queue'),
    }),
    isReading: false,
    run: async ({ id, ...message }, { client }) =>
      agentText(await client.followUpAgent(id, message)),
  }),
  tool({
    name: 'stop_agent',
    title: 'Stop an agent',
    description: "Cancels an agent's current work. Its changes so far stay.",
    input: AgentId,
    isReading: false,
    run: async ({ id }, { client }) => agentText(await client.changeAgent(id, 'stop')),
  }),
  tool({
    name: 'list_agents',
    title: 'List agents',
    description: 'The agents, each with its id, status, time of the last answer and title.',
    input: z.strictObject({ status: AgentsQuery.shape.status }),
    isReading: true,
    run: async ({ status }, { client, signal }) => {
      const limit = REQUEST_LIMITS.maxPageSize;
      const { items } = await client.listAgents({ limit, status }, signal);
      return items.map(agentLine).join('') || 'There is no agent.';
    },
  }),
  tool({
    name: 'list_waiting',
    title: 'List what waits for a person',
    description:
      'The calls and questions that wait for a person, in all conversations. Only a person can answer them.',
    input: z.strictObject({}),
    isReading: true,
    run: async (_, { client, signal }) => {
      const { items, questions } = await client.listApprovals(signal);
      const lines = [
        ...items.flatMap(({ conversationId, title: of, reason, proposal }) => [
          `${conversationId} ${inOneLine(of)}: ${inOneLine(reason)}`,
          ...describeProposal(proposal),
        ]),
        ...questions.flatMap(({ conversationId, title: of, questions: asked }) => [
          `${conversationId} ${inOneLine(of)} asks:`,
          ...asked.map(({ text }) => `  ${inOneLine(text)}`),
        ]),
      ];
      if (lines.length === 0) return 'Nothing waits for a person.';
      return [...lines, '', 'A person answers with `drawbridge approvals`.'].join('\n');
    },
  }),
];

/** The agent once it works no more, or after this time. Each sign of life is progress. */
async function followAgent(
  id: string,
  seconds: number,
  { client, signal, onProgress }: ToolDesk,
): Promise<Agent> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(seconds * SECOND)]);
  let status: AgentStatus = 'queued';
  try {
    for await (const { event } of client.followAccount({ signal: late })) {
      if (event.type === 'reset') ({ status } = await client.getAgent(id, late));
      if (event.type === 'conversation' && event.conversation.id === id) {
        status = event.conversation.agent ?? status;
      }
      if (!WORKING.has(status)) break;
      await onProgress(status);
    }
  } catch (error) {
    if (!late.aborted) throw error;
  }
  return await client.getAgent(id, signal);
}

const WORKING: ReadonlySet<AgentStatus> = new Set(['queued', 'running']);
