/** What the tests of runs share: a streamed message, what became of it, and the conversation's object. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { type ChatResponse, ConversationView } from '../../../shared/wire/documents.ts';
import type { Conversation } from '../../../worker/conversation/object.ts';
import { ask, call, chat, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { type HeldModel, holdModel } from './held-model.ts';

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

/** As {@link askStreamed}, with a model that waits for what the test answers. */
export async function askHeld(
  more?: Parameters<typeof ask>[1],
): Promise<Streamed & { readonly model: HeldModel }> {
  const model = holdModel();
  return { model, ...(await askStreamed(more)) };
}

/** As {@link askHeld}, with the model's first request. */
export async function startAnswer(more?: Parameters<typeof ask>[1]) {
  const asked = await askHeld(more);
  return { ...asked, reply: await asked.model.next() };
}

/** As {@link askHeld}, in a conversation with a bridge. */
export async function askAtBridge(more?: Parameters<typeof ask>[1]) {
  const bridge = await connectBridge();
  return { bridge, ...(await askHeld({ bridgeId: bridge.bridgeId, ...more })) };
}

export async function readResponse(responseId: string): Promise<ChatResponse> {
  return await (await call(`chat/completions/${responseId}`)).json();
}

export async function untilCompleted(responseId: string): Promise<void> {
  await vi.waitFor(async () => {
    expect((await readResponse(responseId)).status).toBe('completed');
  });
}

export async function readView(
  conversationId: string,
  { account = 'ada', query = '' } = {},
): Promise<ConversationView> {
  const response = await call(`conversations/${conversationId}${query}`, { account });
  expect(response.status).toBe(200);
  const view: ConversationView = await response.json();
  ConversationView.parse(view);
  return view;
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

/** Ends the object's instance in the middle of what it does. */
export async function crash(conversationId: string): Promise<void> {
  await runInDurableObject(conversationObject(conversationId), (_, state) => {
    state.abort('crash');
  }).catch(() => undefined);
}

export function alarmOf(conversationId: string): Promise<number | null> {
  const stub = conversationObject(conversationId);
  return runInDurableObject(stub, (_, { storage }) => storage.getAlarm());
}

/** Empty where nothing is stored. */
export function tablesOf(conversationId: string): Promise<unknown[]> {
  return runInDurableObject(conversationObject(conversationId), (_, { storage }) =>
    storage.sql.exec('select name from sqlite_master').toArray(),
  );
}

export function newAccount(): string {
  return `ada-${crypto.randomUUID()}`;
}
