/** `GET events`: what a client that lists conversations learns of its account. */
import * as z from 'zod';
import { ConversationId } from '../ids.ts';
import { named } from '../named.ts';
import { Heartbeat } from '../wire/events.ts';
import { ConversationInfo } from './conversations.ts';
import { BridgeInfo } from './listings.ts';

/** Each event has the newest state, not what happened: a reader that applies it twice is right as well. */
export const AccountEvent = z.discriminatedUnion('type', [
  /** Anything may have changed: read the lists. The changes after that follow. */
  z.object({ type: z.literal('reset') }),
  z.object({ type: z.literal('conversation'), conversation: ConversationInfo }),
  z.object({ type: z.literal('conversation_deleted'), conversationId: ConversationId }),
  z.object({
    type: z.literal('bridge'),
    bridge: BridgeInfo.pick({ id: true, connected: true, lastConnected: true }),
  }),
  Heartbeat,
]);
named.add(AccountEvent, { id: 'AccountEvent' });
export type AccountEvent = z.infer<typeof AccountEvent>;
