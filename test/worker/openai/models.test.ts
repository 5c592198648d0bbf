import { SELF } from 'cloudflare:test';
import { beforeEach, expect, it } from 'vitest';
import { scriptModel, tokenFor } from '../api.ts';
import { configure } from '../settings.ts';
import { completed, openAiError, streamed } from './completing.ts';

beforeEach(() => {
  configure({
    MODELS: [
      { id: 'main', fallbacks: ['spare'] },
      { id: 'spare', roles: ['chat', 'apply'] },
      { id: 'vectors', roles: ['embed'] },
      { id: 'merger', roles: ['apply'] },
    ],
  });
});
async function get(path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${await tokenFor()}` };
  return await SELF.fetch(`https://drawbridge.test/v1/${path}`, { headers });
}

it('lists the models that chat, and no others', async () => {
  const { data } = await (await get('models')).json<{ data: { id: string }[] }>();
  expect(data.map(({ id }) => id)).toEqual(['main', 'spare', 'scripted']);
  expect((await get('models/spare')).status).toBe(200);
  for (const id of ['vectors', 'merger']) {
    expect(await openAiError(await get(`models/${id}`))).toMatchObject({ status: 404 });
  }
});

it('names the fallback that answered', async () => {
  scriptModel(({ model }) =>
    model === 'main'
      ? Response.json({ error: { message: 'full' } }, { status: 503 })
      : { text: 'Hi.' },
  );
  expect(await completed({ model: 'main' })).toMatchObject({ model: 'spare' });
});

it('names the fallback in every chunk of a stream from its first word on', async () => {
  scriptModel(({ model }) =>
    model === 'main'
      ? Response.json({ error: { message: 'full' } }, { status: 503 })
      : { text: 'Hi.' },
  );
  const body = { model: 'main', stream_options: { include_usage: true } };
  const { chunks, content } = await (await streamed(body)).toEnd();
  expect(content).toBe('Hi.');
  expect(chunks.map(({ model }) => model)).toEqual(chunks.map(() => 'spare'));
});

it('names the model that was asked for where that answers', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const { chunks } = await (await streamed({ model: 'main' })).toEnd();
  expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['main']));
});
