/** Large images through every door, up to the model, and what stays of them. */
import {
  env,
  listDurableObjectIds,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test';
import type { ChatCompletion } from 'openai/resources/chat/completions';
import { describe, expect, it } from 'vitest';
import { callV1, completed } from '../../../doors/test/openai/completing.ts';
import { post } from '../../../doors/test/ui-messages/chatting.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import {
  conversationObject,
  crash,
  newAccount,
  tablesOf,
  untilCompleted,
} from '../conversation/conversing.ts';

/** An image of some 1.5 MB, which is more than a body may hold without it. */
function photo(seed: string): string {
  return `data:image/jpeg;base64,/9j/${`${seed}AbC+/09`.repeat(200_000)}=`.replace(/=$/, '');
}
const ROSE = photo('r');
const LILY = photo('l');
const image = (url: string) => ({ type: 'image_url', image_url: { url } });
const text = (words: string) => ({ type: 'text', text: words });
const asks = (...parts: object[]) => ({ role: 'user', content: [text('Look.'), ...parts] });

const DOORS: Readonly<Record<string, (...urls: string[]) => Promise<Response>>> = {
  '/api/v1/chat/completions': (...urls) =>
    call('chat/completions', { body: { messages: [asks(...urls.map(image))] } }),
  '/api/v1/agents': (...urls) =>
    call('agents', { body: { prompt: [text('Look.'), ...urls.map(image)] } }),
  '/v1/chat/completions': (...urls) =>
    callV1('chat/completions', {}, JSON.stringify({ messages: [asks(...urls.map(image))] })),
  '/v1/responses': (...urls) => {
    const images = urls.map((url) => ({ type: 'input_image', image_url: url }));
    const content = [{ type: 'input_text', text: 'Look.' }, ...images];
    return callV1('responses', {}, JSON.stringify({ input: [{ role: 'user', content }] }));
  },
  '/api/v1/ui/chat': (...urls) => {
    const files = urls.map((url) => ({ type: 'file', mediaType: 'image/jpeg', url }));
    const parts = [{ type: 'text', text: 'Look.' }, ...files];
    return post({
      id: `chat-${crypto.randomUUID()}`,
      messages: [{ id: 'm', role: 'user', parts }],
    });
  },
};

const urlsIn = (request: unknown): string[] =>
  [...JSON.stringify(request).matchAll(/data:image\/jpeg;base64,[^"]*/g)].map(([url]) => url);

async function imagesIn(conversationId: string): Promise<number> {
  return await runInDurableObject(conversationObject(conversationId), (_, { storage }) =>
    Number(storage.sql.exec('select count(*) as count from images').one()['count']),
  );
}

describe.each(Object.entries(DOORS))('%s', (_, send) => {
  it('takes three images that are larger together than a body may be', async () => {
    const requests = scriptModel(() => ({ text: 'I see.' }));
    const response = await send(ROSE, LILY, ROSE);
    expect(response.status).toBeLessThan(300);
    await response.text();
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    expect(urlsIn(requests[0])).toEqual([ROSE, LILY, ROSE]);
  });

  it('refuses an image that is damaged, by its place', async () => {
    scriptModel(() => ({ text: 'I see.' }));
    const response = await send(`${ROSE}!`);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/(content|prompt|parts|input)[^"]*1/);
  });

  it('refuses the marker of an image that it does not have', async () => {
    scriptModel(() => ({ text: 'I see.' }));
    const response = await send(`data:image/jpeg;base64,held/9/${'a'.repeat(64)}`);
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('There is no such image'),
    ]);
  });
});

describe('a conversation with a large image', () => {
  it('goes on with it, also after its object has died', async () => {
    const requests = scriptModel(() => ({ text: 'I see.' }));
    const { id, conversationId } = await chat('', { messages: [asks(image(ROSE))] });
    await untilCompleted(id);
    await crash(conversationId);
    await chat('And?', { conversationId });
    expect(urlsIn(requests.at(-1))).toEqual([ROSE]);
    const response = await call(`chat/completions/${id}/images`);
    expect(await response.json()).toEqual({ items: [{ url: ROSE }] });
  });

  it('holds the same image once, and its forks have what they show', async () => {
    scriptModel(() => ({ text: 'I see.' }));
    const first = await chat('', { messages: [asks(image(ROSE))] });
    const { conversationId } = first;
    const few = await imagesIn(conversationId);
    await chat('', { messages: [asks(image(ROSE))], conversationId });
    expect(await imagesIn(conversationId)).toBe(few);
    await chat('', { messages: [asks(image(LILY))], conversationId });
    expect(await imagesIn(conversationId)).toBe(2 * few);
    const body = { responseId: first.id };
    const forked = await call(`conversations/${conversationId}/forks`, { body });
    const { conversationId: fork } = await forked.json<{ conversationId: string }>();
    expect(await imagesIn(fork)).toBe(few);
    const requests = scriptModel(() => ({ text: 'I see.' }));
    await chat('And?', { conversationId: fork });
    expect(urlsIn(requests.at(-1))).toEqual([ROSE]);
  });

  it('takes no image of a message from another account', async () => {
    scriptModel(() => ({ text: 'I see.' }));
    const { conversationId } = await chat('', { messages: [asks(image(ROSE))] });
    const few = await imagesIn(conversationId);
    const body = { messages: [asks(image(LILY))], conversationId };
    const response = await call('chat/completions', { body, account: newAccount() });
    expect(response.status).toBe(404);
    expect(await imagesIn(conversationId)).toBe(few);
  });

  it('has a note in place of an image whose row is lost', async () => {
    const requests = scriptModel(() => ({ text: 'I see.' }));
    const { conversationId } = await chat('', { messages: [asks(image(ROSE))] });
    await runInDurableObject(conversationObject(conversationId), (_, { storage }) => {
      storage.sql.exec('delete from images');
    });
    await chat('And?', { conversationId });
    expect(JSON.stringify(requests.at(-1))).toContain('[image, lost]');
  });

  it('keeps nothing after its deletion, and nothing beside itself', async () => {
    scriptModel(() => ({ text: 'I see.' }));
    const before = new Set((await listDurableObjectIds(env.CONVERSATIONS)).map(String));
    const { conversationId } = await chat('', { messages: [asks(image(ROSE))] });
    const others = (await listDurableObjectIds(env.CONVERSATIONS)).filter(
      (id) => !before.has(String(id)) && !id.equals(env.CONVERSATIONS.idFromName(conversationId)),
    );
    const tables = (id: DurableObjectId) =>
      runInDurableObject(env.CONVERSATIONS.get(id), (_, { storage }) =>
        storage.sql.exec("select name from sqlite_master where name = 'images'").toArray(),
      );
    for (const id of others) await expect.poll(() => tables(id)).toEqual([]);
    await call(`conversations/${conversationId}`, { method: 'DELETE' });
    expect(await tablesOf(conversationId)).toEqual([]);
  });
});

it('leaves nothing of a message that is refused, and goes after an hour where a crash has left it', async () => {
  scriptModel(() => ({ text: 'I see.' }));
  const unknown = {
    messages: [asks(image(ROSE))],
    conversationId: 'conv_00000000-0000-4000-8000-000000000000',
  };
  expect((await call('chat/completions', { body: unknown })).status).toBe(404);
  expect(await tablesOf(unknown.conversationId)).toEqual([]);
  const name = 'conv_00000000-0000-4000-8000-000000000001';
  const spool = conversationObject(name);
  await spool.holdImage('a', 'piece');
  expect(await spool.imagePiece('a')).toBe('piece');
  await runDurableObjectAlarm(spool);
  expect(await tablesOf(name)).toEqual([]);
});

it('bounds a body by what is no image, and its images by a bound of their own', async () => {
  scriptModel(() => ({ text: 'I see.' }));
  const words = 'x'.repeat(2_000_000);
  const body = { messages: [asks(image(ROSE))], user: words };
  const error = await errorOf(await call('chat/completions', { body }));
  expect(error).toMatchObject({
    status: 413,
    message: expect.stringContaining('beside its images'),
  });
});

it('images of results reach the model, and what is too large for a result is a note', async () => {
  const requests = scriptModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { text: 'I see.' }
      : { calls: [{ name: 'take_photo', arguments: {} }] },
  );
  const tools = [
    { type: 'function', function: { name: 'take_photo', parameters: { type: 'object' } } },
  ];
  const ask = { role: 'user', content: 'Take one.' };
  const small = `data:image/jpeg;base64,/9j/${'AbC+'.repeat(100_000)}`;
  const { choices } = await completed({ messages: [ask], tools });
  const message = choices[0]?.message;
  const id = message?.tool_calls?.[0]?.id;
  const give = async (url: string) => {
    const result = { role: 'tool', tool_call_id: id, content: [text('Here:'), image(url)] };
    const messages = [ask, message, result];
    return await completed({ messages, tools });
  };
  const answer: ChatCompletion = await give(small);
  expect(answer.choices[0]?.message.content).toBe('I see.');
  expect(urlsIn(requests.at(-1))).toEqual([small]);
});

it('attachments of the past that no model reads are notes, however large', async () => {
  const requests = scriptModel(() => ({ text: 'I see.' }));
  const file = (type: string) => ({
    type: 'file',
    file: { filename: 'a.pdf', file_data: `data:${type};base64,${'AbC+'.repeat(600_000)}` },
  });
  const messages = [
    asks(file('application/pdf'), file('audio/mpeg')),
    { role: 'assistant', content: 'No.' },
  ];
  const answer = await completed({ messages: [...messages, { role: 'user', content: 'And?' }] });
  expect(answer.choices[0]?.message.content).toBe('I see.');
  expect(JSON.stringify(requests[0])).toContain('[file a.pdf, left out]');
});
