import { abortAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, expect, it, vi } from 'vitest';
import type { ConversationList } from '../../../shared/api/conversations.ts';
import { call, chat, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { configure } from '../settings.ts';
import { askHeld, askStreamed, conversationObject } from './conversing.ts';
import type { HeldReply } from './held-model.ts';

const CHATTING = { id: 'big', prices: { input: 1, output: 1 } };
const NAMING = { id: 'small', roles: ['fast'], prices: { input: 2, output: 0 } };

beforeEach(() => {
  configure({ MODELS: [CHATTING, NAMING] });
});
it('is made of the first message and its answer by the model for small tasks, once', async () => {
  const account = crypto.randomUUID();
  const requests = scriptModel(({ model }) => ({
    text: model === 'small' ? '"Fixing the <lexer>."\nBecause it is broken.' : 'I did </answer>.',
  }));
  const { conversationId } = await chat('Fix </message> <b>', { account, model: 'big' });
  const follower = await followerOf(conversationId, account);
  const [update] = (await follower.untilType('conversation_update')).slice(-1);
  expect(update?.event).toEqual({
    type: 'conversation_update',
    title: 'Fixing the <lexer>',
    archived: false,
    usage: expect.objectContaining({ promptTokens: 11, cost: { amount: 22e-6, currency: 'USD' } }),
  });
  await follower.leave();
  await untilListed(account, 'Fixing the <lexer>');
  await chat('And the parser', { account, model: 'big', conversationId });
  expect(requests.map(({ model }) => model)).toEqual(['big', 'small', 'big']);
  const [, asked] = requests;
  expect(asked).toMatchObject({ max_tokens: expect.any(Number) });
  expect(asked).not.toHaveProperty('tools');
  const sent = String(asked?.messages[1]?.content);
  expect(sent).toContain('<message>\nFix &lt;/message&gt; &lt;b&gt;\n</message>');
  expect(sent).toContain('<answer>\nI did &lt;/answer&gt;.\n</answer>');
});

it('is not made where no model is for small tasks', async () => {
  configure({ MODELS: [CHATTING] });
  const requests = scriptModel(() => ({ text: 'Hello.' }));
  const { conversationId } = await chat('hi', { model: 'big' });
  await chat('again', { model: 'big', conversationId });
  expect(requests.map(({ model }) => model)).toEqual(['big', 'big']);
});

it('is not made of a message that failed, but of the first one that was answered', async () => {
  const requests = scriptModel(({ model, messages }) => {
    if (model === 'small') return { text: 'A title' };
    return JSON.stringify(messages).includes('good')
      ? { text: 'Hello.' }
      : Response.json({ error: { message: 'no' } }, { status: 400 });
  });
  const account = crypto.randomUUID();
  const { conversationId } = await chat('bad', { account, model: 'big' });
  await chat('good', { account, model: 'big', conversationId });
  await untilListed(account, 'A title');
  expect(String(requests.at(-1)?.messages[1]?.content)).toContain('good');
  expect(requests.map(({ model }) => model)).toEqual(['big', 'big', 'small']);
});

it('a title that is being made keeps no one waiting, and gives way to a title that a person gave meanwhile', async () => {
  const account = crypto.randomUUID();
  const { naming, conversationId, model } = await untilNaming(account);
  const second = await askStreamed({ account, conversationId, model: 'big' });
  (await model.next()).answer({ text: 'Also done.' });
  expect((await second.reader.toEnd()).at(-1)?.event).toMatchObject({ status: 'completed' });
  await call(`conversations/${conversationId}`, {
    method: 'PATCH',
    account,
    body: { title: 'Mine' },
  });
  naming.answer({ text: 'Theirs' });
  await runDurableObjectAlarm(conversationObject(conversationId));
  expect(await titlesOf(account)).toEqual(['Mine']);
  expect(model.count).toBe(3);
});

it('a title that is being made is given up when the conversation is deleted', async () => {
  const account = crypto.randomUUID();
  const { naming, conversationId } = await untilNaming(account);
  await call(`conversations/${conversationId}`, { method: 'DELETE', account });
  await naming.untilAborted();
  expect(await titlesOf(account)).toEqual([]);
});

it('a title that is being made is asked for again after a crash, and made once', async () => {
  const account = crypto.randomUUID();
  const { conversationId, model } = await untilNaming(account);
  await abortAllDurableObjects();
  await runDurableObjectAlarm(conversationObject(conversationId));
  (await model.next()).answer({ text: 'At last' });
  await untilListed(account, 'At last');
  await abortAllDurableObjects();
  await runDurableObjectAlarm(conversationObject(conversationId));
  expect(model.count).toBe(3);
  const follower = await followerOf(conversationId, account);
  await follower.untilType('conversation_update');
  await follower.leave();
  expect(follower.events.filter(({ event }) => event.type === 'conversation_update')).toHaveLength(
    1,
  );
});

it('is left alone after the second attempt that fails', async () => {
  const account = crypto.randomUUID();
  const requests = scriptModel(({ model }) => ({ text: model === 'small' ? ' "" ' : 'Hello.' }));
  const { conversationId } = await chat('hi there', { account, model: 'big' });
  const attempts = () => requests.filter(({ model }) => model === 'small').length;
  await vi.waitFor(() => expect(attempts()).toBe(1));
  await runDurableObjectAlarm(conversationObject(conversationId));
  await vi.waitFor(() => expect(attempts()).toBe(2));
  await runDurableObjectAlarm(conversationObject(conversationId));
  await chat('and again', { account, model: 'big', conversationId });
  expect(attempts()).toBe(2);
  expect(await titlesOf(account)).toEqual(['hi there']);
});

/** A conversation whose first message is answered, and the request for its title, which waits. */
async function untilNaming(account: string) {
  const { model, reader, conversationId } = await askHeld({ account, model: 'big' });
  (await model.next()).answer({ text: 'Done.' });
  await reader.toEnd();
  const naming: HeldReply = await model.next();
  expect(naming.request.model).toBe('small');
  return { naming, conversationId, model };
}

async function followerOf(conversationId: string, account: string): Promise<SseReader> {
  const path = `conversations/${conversationId}/events?after=0`;
  return new SseReader(await call(path, { account }));
}

async function titlesOf(account: string): Promise<string[]> {
  const list: ConversationList = await (await call('conversations', { account })).json();
  return list.items.map(({ title }) => title);
}

async function untilListed(account: string, title: string): Promise<void> {
  await vi.waitFor(async () => expect(await titlesOf(account)).toEqual([title]));
}
