/** What the tests of runs share: a streamed message, what became of it, and the conversation's object. */
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import type { Conversation } from '../../../worker/conversation/object.ts';
import { ask, call, chat, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';

export interface Streamed {
  readonly reader: SseReader;
  readonly responseId: string;
  readonly conversationId: string;
}

/** Sends a message and follows its answer. */
export async function askStreamed(more: Parameters<typeof ask>[1] = {}): Promise<Streamed> {
  const response = await ask('go', { stream: true, ...more });
  return {
    reader: new SseReader(response),
    responseId: response.headers.get('drawbridge-response-id') ?? '',
    conversationId: response.headers.get('drawbridge-conversation-id') ?? '',
  };
}

export async function readResponse(responseId: string): Promise<ChatResponse> {
  return await (await call(`chat/completions/${responseId}`)).json();
}

export async function cancel(responseId: string, account = 'ada'): Promise<unknown> {
  const path = `chat/completions/${responseId}/cancel`;
  return await (await call(path, { method: 'POST', account })).json();
}

/** Checks that the next message is answered: what was refused before has left nothing behind. */
export async function expectUsable(conversationId: string): Promise<void> {
  scriptModel(() => ({ text: 'Still here.' }));
  const { status, documents } = await chat('Still there?', { conversationId });
  expect([status, documents.map(({ content }) => content)]).toEqual(['completed', ['Still here.']]);
}

export function conversationObject(conversationId: string): DurableObjectStub<Conversation> {
  return env.CONVERSATIONS.get(env.CONVERSATIONS.idFromName(conversationId));
}
