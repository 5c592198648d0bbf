/** Photos of a phone, 10 MB each, to a server of one's own: with each message again, as chats of others send them. */
import { randomBytes } from 'node:crypto';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { sha256 } from '../../shared/text/sha256.ts';
import { oneHouse } from './one-house.ts';

const one = oneHouse();

const PHOTOS = Array.from({ length: 3 }, () => {
  const bytes = randomBytes(10_000_000);
  bytes.set([0xff, 0xd8, 0xff]);
  return `data:image/jpeg;base64,${bytes.toString('base64')}`;
});

const digests = async (urls: readonly string[]) => await Promise.all(urls.map(sha256));

function urlsIn(messages: readonly object[]): string[] {
  const parts = messages.flatMap((message) => Object(message).content);
  return parts.flatMap((part) => Object(part).image_url?.url ?? []);
}

it('three photos reach the model whole, with each message of a chat', async () => {
  one.answerWith(() => ({ text: 'I see.' }));
  const { url, token } = one.house.ready;
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  for (const photo of PHOTOS) {
    messages.push({
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'image_url', image_url: { url: photo } },
      ],
    });
    const { choices } = await openai.chat.completions.create({ model: 'scripted', messages });
    expect(choices[0]?.message.content).toBe('I see.');
    messages.push({ role: 'assistant', content: 'I see.' });
  }
  const sent = urlsIn(one.requests().at(-1)?.messages ?? []);
  expect(await digests(sent)).toEqual(await digests(PHOTOS));
});

it('a photo is in its conversation, and comes back', async () => {
  one.answerWith(() => ({ text: 'I see.' }));
  const { url, token } = one.house.ready;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const [photo = ''] = PHOTOS;
  const content = [
    { type: 'text', text: 'Look.' },
    { type: 'image_url', image_url: { url: photo } },
  ];
  const body = JSON.stringify({ messages: [{ role: 'user', content }] });
  const asked = await fetch(`${url}/api/v1/chat/completions`, { method: 'POST', headers, body });
  const { id } = Object(await asked.json());
  const images = await fetch(`${url}/api/v1/chat/completions/${id}/images`, { headers });
  expect(Object(await images.json()).items).toEqual([{ url: photo }]);
});
