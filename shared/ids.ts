/**
 * The ids of Drawbridge. The caller passes the UUID (`crypto.randomUUID()`), so that this folder needs no runtime.
 *
 * A response's id contains its conversation and its number there: a conversation's UUID ends in four zeros, and the
 * response's UUID has its number in their place. So no index is needed to find a response.
 */
import * as z from 'zod';
import { named } from './named.ts';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]';
const HEX = 16;
const ORDINAL_DIGITS = 4;

/** The most responses of one conversation: the number has four hexadecimal digits in the response's id. */
export const MAX_RESPONSES = HEX ** ORDINAL_DIGITS - 1;

export const ConversationId = z.string().regex(new RegExp(`^conv_${UUID}{8}0000$`));
named.add(ConversationId, { id: 'ConversationId' });
export const ResponseId = z.string().regex(new RegExp(`^chat_${UUID}{8}(?!0000)[0-9a-f]{4}$`));
named.add(ResponseId, { id: 'ResponseId' });
export const CallId = z.string().regex(new RegExp(`^call_${UUID}{12}$`));
named.add(CallId, { id: 'CallId' });
export const BridgeId = z.string().regex(new RegExp(`^bridge_${UUID}{12}$`));
named.add(BridgeId, { id: 'BridgeId' });
export const DeviceId = z.string().regex(new RegExp(`^device_${UUID}{12}$`));
named.add(DeviceId, { id: 'DeviceId' });
export const SessionId = z.string().regex(new RegExp(`^sess_${UUID}{12}$`));
export const DocumentId = z.string().regex(/^doc_\d{3,}$/);
named.add(DocumentId, { id: 'DocumentId' });

export function newConversationId(uuid: string): string {
  return `conv_${uuid.slice(0, -ORDINAL_DIGITS)}0000`;
}

/** The id of a conversation's `ordinal`-th response, counted from 1 to {@link MAX_RESPONSES}. */
export function responseIdOf(conversationId: string, ordinal: number): string {
  const digits = ordinal.toString(HEX).padStart(ORDINAL_DIGITS, '0');
  return `chat_${conversationId.slice('conv_'.length, -ORDINAL_DIGITS)}${digits}`;
}

/** The inverse of {@link responseIdOf}, for an id that {@link ResponseId} has parsed. */
export function parseResponseId(responseId: string): { conversationId: string; ordinal: number } {
  return {
    conversationId: newConversationId(responseId.slice('chat_'.length)),
    ordinal: Number.parseInt(responseId.slice(-ORDINAL_DIGITS), HEX),
  };
}

export function newCallId(uuid: string): string {
  return `call_${uuid}`;
}

export function newBridgeId(uuid: string): string {
  return `bridge_${uuid}`;
}

export function newDeviceId(uuid: string): string {
  return `device_${uuid}`;
}

export function newSessionId(uuid: string): string {
  return `sess_${uuid}`;
}

/** `doc_001` for 1; numbers above 999 have more digits. */
export function documentIdOf(sequence: number): string {
  return `doc_${String(sequence).padStart(3, '0')}`;
}
