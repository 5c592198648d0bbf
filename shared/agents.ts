/** Agents: conversations that work in the background, as the API takes and shows them. */
import * as z from 'zod';
import { ConversationInfo, ConversationsQuery } from './conversations.ts';
import { ChatResponse } from './documents.ts';
import { BridgeId } from './ids.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { ChatFields, MessagePatch } from './requests.ts';

/** `waiting`: a person must answer. `archived`: put away; `responseId` tells how the work ended. */
export const AgentStatus = z.enum([
  'queued',
  'running',
  'waiting',
  'completed',
  'error',
  'cancelled',
  'archived',
]);
export type AgentStatus = z.infer<typeof AgentStatus>;

/** `POST agents`. */
export const AgentRequest = ChatFields.pick({
  model: true,
  mode: true,
  bridgeId: true,
  tools: true,
  context: true,
  device: true,
}).extend({
  /** The task. */
  prompt: MessagePatch.shape.content,
  /** Absent: the first line of the prompt. */
  title: ConversationInfo.shape.title.trim().min(1).max(REQUEST_LIMITS.maxNameChars).optional(),
});
export type AgentRequest = z.infer<typeof AgentRequest>;

/** `POST agents/{id}/followup`. Without a model and a mode, those of the newest message count. */
export const AgentFollowUp = AgentRequest.omit({ bridgeId: true, title: true }).extend({
  delivery: ChatFields.shape.delivery,
});
export type AgentFollowUp = z.infer<typeof AgentFollowUp>;

/** An agent in the list. Its id is that of its conversation. */
export const AgentInfo = ConversationInfo.omit({ archived: true }).extend({ status: AgentStatus });
export type AgentInfo = z.infer<typeof AgentInfo>;

/** `GET agents`: the agent that answered last comes first. */
export const AgentList = z.object({
  items: z.array(AgentInfo),
  /** The `cursor` of the next page; null on the last page. */
  nextCursor: z.string().nullable(),
});
export type AgentList = z.infer<typeof AgentList>;

export const AgentsQuery = ConversationsQuery.pick({ limit: true, cursor: true }).extend({
  /** Absent: all agents that are not archived. */
  status: AgentStatus.optional(),
});

/** `GET agents/{id}`. The fields from `responseId` on are those of the newest response. */
export const Agent = AgentInfo.extend({
  bridgeId: BridgeId.nullable(),
  responseId: ChatResponse.shape.id,
  model: ChatResponse.shape.model,
  mode: ChatResponse.shape.mode,
  usage: ChatResponse.shape.usage,
  /** The model's last words; null until the response has ended, and if it said nothing. */
  result: z.string().nullable(),
  /** Why the response failed. */
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});
export type Agent = z.infer<typeof Agent>;
