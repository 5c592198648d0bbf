/** Agents: conversations that work in the background, as the API takes and shows them. */
import * as z from 'zod';
import { BridgeId } from '../ids.ts';
import { AGENT_LIMITS, REQUEST_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { ClosedWorktree, OpenedWorktree, openWorktree } from '../tools/worktree.ts';
import { ChatResponse } from '../wire/documents.ts';
import { CallLimits } from '../wire/tunnel.ts';
import { AgentStatus, ConversationInfo, ConversationsQuery } from './conversations.ts';
import { ChatFields, MessagePatch } from './requests.ts';

/** A secret of the Standard Webhooks: base64 of 24 to 64 bytes. */
const WebhookSecret = z
  .string()
  .regex(
    /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
    'A secret is whsec_ and the base64 of 24 to 64 bytes',
  );

/** Gets a {@link WebhookEvent} at each change of the agent's status. */
const WebhookRequest = z.strictObject({
  /** An https URL at a public address, unless the operator allows another. */
  url: z.url().max(AGENT_LIMITS.maxUrlChars),
  /** Absent: Drawbridge makes one, and the answer to the request shows it. */
  secret: WebhookSecret.optional(),
});

const AgentFields = ChatFields.pick({
  model: true,
  mode: true,
  bridgeId: true,
  deleteAfterHours: true,
  tools: true,
  context: true,
  include: true,
  device: true,
  budget: true,
  questions: true,
}).extend({
  /** The task. */
  prompt: MessagePatch.shape.content,
  /** Absent: the first line of the prompt. */
  title: ConversationInfo.shape.title.trim().min(1).max(REQUEST_LIMITS.maxNameChars).optional(),
  /** `worktree` (default with a bridge): the person's files stay as they are. `in_place`: the person's own folder. */
  workspace: z.enum(['worktree', 'in_place']).optional(),
  /** The branch to make. Absent: the bridge chooses a name. */
  branch: openWorktree.arguments.shape.branch,
  /** A commit, branch or tag to begin at. Absent: `HEAD`. */
  base: openWorktree.arguments.shape.base,
  /** Whether each response ends with a commit of the work. */
  commit: z.boolean().optional(),
  webhook: WebhookRequest.optional(),
});

/** `POST agents`. */
export const AgentRequest = AgentFields.superRefine((request, context) => {
  if (request.workspace !== 'in_place') return;
  for (const field of ['branch', 'base', 'commit'] as const) {
    if (request[field] === undefined) continue;
    const message = 'Leave it out: only an agent in a worktree has a branch';
    context.addIssue({ code: 'custom', path: [field], message });
  }
});
named.add(AgentRequest, { id: 'AgentRequest' });
export type AgentRequest = z.infer<typeof AgentRequest>;
export type AgentRequestInput = z.input<typeof AgentRequest>;

/** `POST agents/{id}/followup`. Without a model, a mode or tools, those of the newest message count. */
export const AgentFollowUp = AgentFields.omit({
  bridgeId: true,
  deleteAfterHours: true,
  title: true,
  workspace: true,
  branch: true,
  base: true,
  commit: true,
  webhook: true,
}).extend({ delivery: ChatFields.shape.delivery });
named.add(AgentFollowUp, { id: 'AgentFollowUp' });
export type AgentFollowUp = z.infer<typeof AgentFollowUp>;
export type AgentFollowUpInput = z.input<typeof AgentFollowUp>;

/** An agent in the list. Its id is that of its conversation. */
export const AgentInfo = ConversationInfo.pick({
  id: true,
  title: true,
  created: true,
  updated: true,
}).extend({ status: AgentStatus });
named.add(AgentInfo, { id: 'AgentInfo' });
export type AgentInfo = z.infer<typeof AgentInfo>;

/** `GET agents`: the agent that answered last comes first. */
export const AgentList = z.object({
  items: z.array(AgentInfo),
  /** The `cursor` of the next page; null on the last page. */
  nextCursor: z.string().nullable(),
});
named.add(AgentList, { id: 'AgentList' });
export type AgentList = z.infer<typeof AgentList>;

export const AgentsQuery = ConversationsQuery.pick({ limit: true, cursor: true }).extend({
  /** Absent: all agents that are not archived. */
  status: AgentStatus.optional(),
});
export type AgentsQuery = z.infer<typeof AgentsQuery>;

/** Why a response failed. */
const Failure = z.object({ code: z.string(), message: z.string() });

/** `GET agents/{id}`. The fields from `responseId` on are those of the newest response. */
export const Agent = AgentInfo.extend({
  bridgeId: BridgeId.nullable(),
  responseId: ChatResponse.shape.id,
  model: ChatResponse.shape.model,
  mode: ChatResponse.shape.mode,
  ownMode: ChatResponse.shape.ownMode,
  /** The only tools of the newest message, with their limits; absent where it names none. */
  tools: z.record(z.string(), CallLimits).optional(),
  usage: ChatResponse.shape.usage,
  /** The model's last words; null before the end of the response, and if it said nothing. */
  result: z.string().nullable(),
  /** Why the response failed. `details` may say which branch, file or server it is about. */
  error: Failure.extend({ details: z.string().optional() }).optional(),
  /** The branch of its own, once it is made; from `head` on as it was when the bridge closed it last. */
  worktree: OpenedWorktree.extend(ClosedWorktree.omit({ branch: true }).partial().shape)
    .extend({
      /** The newest response failed or was cancelled, and the bridge has not yet reported its changes. */
      isClosing: z.literal(true).optional(),
    })
    .optional(),
  webhook: z
    .object({
      url: z.string(),
      /** `gone`: the receiver has answered 410 and gets nothing more. */
      state: z.enum(['active', 'gone']),
      /** Only in the answer to the request that makes the agent. */
      secret: z.string().optional(),
    })
    .optional(),
});
named.add(Agent, { id: 'Agent' });
export type Agent = z.infer<typeof Agent>;

/** The body of a webhook. */
export const WebhookEvent = z.object({
  type: z.enum([
    'agent.running',
    'agent.waiting',
    'agent.completed',
    'agent.error',
    'agent.cancelled',
  ]),
  /** The time of the change. */
  timestamp: z.iso.datetime(),
  /** The agent then. */
  data: Agent.pick({ id: true, title: true, status: true, responseId: true }).extend({
    error: Failure.optional(),
  }),
});
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/** `dead`: not delivered after the last attempt, or no longer wanted. */
export const DeliveryState = z.enum(['pending', 'delivered', 'dead']);
named.add(DeliveryState, { id: 'DeliveryState' });
export type DeliveryState = z.infer<typeof DeliveryState>;

/** An event on its way to the webhook. */
export const WebhookDelivery = WebhookEvent.pick({ type: true, timestamp: true }).extend({
  /** The header `webhook-id` of all its attempts. */
  id: z.string(),
  state: DeliveryState,
  /** Finished attempts. */
  attempts: z.int().nonnegative(),
  /** The outcome of the last attempt: the status of the answer, or why there was none. */
  answer: z.string().optional(),
  /** When the next attempt is due. */
  next: z.iso.datetime().optional(),
});
named.add(WebhookDelivery, { id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** `GET agents/{id}/deliveries`: the newest first. */
export const WebhookDeliveries = z.object({ items: z.array(WebhookDelivery) });
named.add(WebhookDeliveries, { id: 'WebhookDeliveries' });
export type WebhookDeliveries = z.infer<typeof WebhookDeliveries>;
