/** `GET events`: what a client that lists conversations learns of its account. */
import * as z from 'zod';
import { BridgeId, ConversationId } from '../ids.ts';
import { Heartbeat } from '../wire/events.ts';
import { AgentStatus } from './agents.ts';
import { ConversationInfo } from './conversations.ts';
import { BridgeInfo } from './listings.ts';

/** A conversation as `GET conversations` lists it, with what waits in it for a person. */
export const FollowedConversation = ConversationInfo.extend({
  /** Null without a bridge, and where the bridge is not known. */
  bridgeId: BridgeId.nullable(),
  /** Set for an agent. */
  agent: AgentStatus.optional(),
  /** How many approvals and clarifications wait, with those of subagents. `GET approvals` lists them. */
  waiting: z.object({
    approvals: z.int().nonnegative(),
    questions: z.int().nonnegative(),
  }),
});
export type FollowedConversation = z.infer<typeof FollowedConversation>;

/** Each event has the newest state, not what happened: a reader that applies it twice is right as well. */
export const AccountEvent = z.discriminatedUnion('type', [
  /** Anything may have changed: read the lists. The changes after that follow. */
  z.object({ type: z.literal('reset') }),
  z.object({ type: z.literal('conversation'), conversation: FollowedConversation }),
  z.object({ type: z.literal('conversation_deleted'), conversationId: ConversationId }),
  z.object({
    type: z.literal('bridge'),
    bridge: BridgeInfo.pick({ id: true, connected: true, lastConnected: true }),
  }),
  Heartbeat,
]);
export type AccountEvent = z.infer<typeof AccountEvent>;
