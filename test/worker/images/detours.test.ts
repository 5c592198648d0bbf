/** Large images where a door or a path has another way to go. */

import { runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { callV1, completed } from '../../../doors/test/openai/completing.ts';
import { fewOf } from '../../depth.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { conversationObject, startAnswer, untilCompleted } from '../conversation/conversing.ts';

const photo = (seed: string, times = 200_000) =>
  `data:image/jpeg;base64,/9j/${`${seed}AbC+/09`.repeat(times)}`.slice(0, -4);
const ROSE = photo('r');
const image = (url: string) => ({ type: 'image_url', image_url: { url } });
const text = (words: string) => ({ type: 'text', text: words });
const asks = (...parts: object[]) => ({ role: 'user', content: [text('Look.'), ...parts] });

async function imagesIn(conversationId: string): Promise<number> {
  return await runInDurableObject(conversationObject(conversationId), (_, { storage }) =>
    Number(storage.sql.exec('select count(*) as count from images').one()['count']),
  );
}

const PHOTO_TOOL = {
  type: 'function',
  function: { name: 'take_photo', parameters: { type: 'object' } },
};

it('a waiting message can be changed to one with a large image', async () => {
  const { conversationId, reply } = await startAnswer();
  const waiting = await call('chat/completions', {
    body: { messages: [asks(image(ROSE))], conversationId, stream: true },
  });
  const id = waiting.headers.get('drawbridge-response-id');
  const body = { content: [text('Look again.'), image(ROSE)] };
  const edited = await call(`chat/completions/${id}`, { method: 'PATCH', body });
  expect(edited.status).toBe(200);
  await waiting.body?.cancel();
  reply.answer({ text: 'Done.' });
});

it('a text of a tool that is the address of an image stays what it is', async () => {
  const requests = scriptModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { text: 'I see.' }
      : { calls: [{ name: 'take_photo', arguments: {} }] },
  );
  const ask = { role: 'user', content: 'Take one.' };
  const tools = [PHOTO_TOOL];
  const { choices } = await completed({ messages: [ask], tools });
  const message = choices[0]?.message;
  const content = photo('r', 40_000);
  const result = { role: 'tool', tool_call_id: message?.tool_calls?.[0]?.id, content };
  await completed({ messages: [ask, message, result], tools });
  expect(JSON.stringify(requests.at(-1))).not.toContain('held/');
});

it('results of many tools with images of the largest size are taken', async () => {
  const count = fewOf(40, 4);
  scriptModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { text: 'I see.' }
      : { calls: Array(count).fill({ name: 'take_photo', arguments: {} }) },
  );
  const ask = { role: 'user', content: 'Take many.' };
  const tools = [PHOTO_TOOL];
  const { choices } = await completed({ messages: [ask], tools });
  const message = choices[0]?.message;
  const results = (message?.tool_calls ?? []).map(({ id }, index) => ({
    role: 'tool',
    tool_call_id: id,
    content: [image(photo(String(index % 10), 118_000))],
  }));
  expect(results).toHaveLength(count);
  const body = JSON.stringify({ messages: [ask, message, ...results], tools });
  const response = await callV1('chat/completions', {}, body);
  expect([response.status, (await response.text()).slice(0, 300)]).toEqual([
    200,
    expect.stringContaining('I see.'),
  ]);
});

it('a message that is refused leaves no image in its conversation', async () => {
  const { conversationId, reply } = await startAnswer();
  const body = { messages: [asks(image(ROSE))], conversationId, delivery: 'reject' };
  const error = await errorOf(await call('chat/completions', { body }));
  expect(error.code).toBe('CONVERSATION_BUSY');
  expect(await imagesIn(conversationId)).toBe(0);
  reply.answer({ text: 'Done.' });
});

it('an edit of an earlier message has no image of what it replaces', async () => {
  scriptModel(() => ({ text: 'I see.' }));
  const first = await chat('Hello.');
  const { conversationId } = first;
  const second = await chat('', { messages: [asks(image(ROSE))], conversationId });
  await untilCompleted(second.id);
  const edited = await chat('No image.', { editOf: second.id });
  expect(await imagesIn(edited.conversationId)).toBe(0);
});

it('an idempotency key brings the same answer for the same images, sent twice at once', async () => {
  const requests = scriptModel(() => ({ text: 'I see.' }));
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  const body = { messages: [asks(image(ROSE))] };
  const send = () => call('chat/completions', { body, headers });
  const answers = await Promise.all([send(), send(), send()]);
  const ids = await Promise.all(answers.map(async (each) => Object(await each.json()).id));
  expect(new Set(ids).size).toBe(1);
  const [largest] = requests.map((each) => JSON.stringify(each).includes(ROSE));
  expect(largest).toBe(true);
});
