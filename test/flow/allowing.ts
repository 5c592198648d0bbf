/** A person with the enrolled device of this machine, who allows every call. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Device } from '../../client/index.ts';
import type { ApprovalQuestion } from '../../shared/wire/approvals.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import type { ReadEvent } from '../../shared/wire/events.ts';
import type { House } from './house.ts';

export interface Allowed {
  readonly response: ChatResponse;
  /** What the person was asked. */
  readonly asked: readonly ApprovalQuestion[];
}

/** What they need of the server. */
export type Server = Pick<House, 'client' | 'fetch' | 'state'>;

/** Sends a message of a new conversation, and allows every call until its response is over. */
export async function sendAllowing(
  house: Server,
  content: string,
  fields: { readonly bridgeId?: string } = {},
  /** What the person answers to a question of a server, as JSON. */
  values?: string,
): Promise<Allowed> {
  const asked: ApprovalQuestion[] = [];
  const request = { messages: [{ role: 'user' as const, content }], ...fields };
  let conversationId = '';
  for await (const { event } of house.client.streamChat(request)) {
    if (event.type === 'response_start') conversationId = event.response.conversationId;
    const question = questionIn(event, conversationId);
    if (!question) continue;
    asked.push(question);
    const content = question.proposal.kind === 'elicitation' ? values : undefined;
    await house.client.allowCall(question, deviceOf(house), { content });
  }
  const { responses } = await house.client.getConversation(conversationId);
  const [response] = responses;
  if (!response) throw new Error('the conversation has no response');
  return { response, asked };
}

/** What the event asks for, in the conversation or by one of its subagents. */
function questionIn(event: ReadEvent, conversationId: string): ApprovalQuestion | undefined {
  if (event.type === 'approval_request') return { ...event, conversationId };
  if (event.type !== 'subagent_ask' || event.ask.kind !== 'approval') return undefined;
  return event.ask;
}

/** The enrolled device of this machine. */
export function deviceOf(house: Pick<Server, 'state'>): Device {
  const stored = JSON.parse(readFileSync(join(house.state, 'device.json'), 'utf8'));
  return { deviceId: stored.deviceId, privateJwk: stored.privateKey };
}
