import { beforeEach, expect, it } from 'vitest';
import { scriptModel } from '../../../test/worker/api.ts';
import { configure } from '../../../test/worker/settings.ts';
import { callV1, completed, openAiError, streamed } from './completing.ts';

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
it('lists the models that chat, and no others', async () => {
  const list = await (await callV1('models')).json<{ data: { id: string }[] }>();
  expect(list).toMatchObject({ object: 'list' });
  expect(list.data.map(({ id }) => id)).toEqual(['main', 'spare', 'scripted']);
  const spare = { id: 'spare', object: 'model', created: 0, owned_by: 'drawbridge' };
  expect(await (await callV1('models/spare')).json()).toEqual(spare);
  for (const id of ['vectors', 'merger', 'meta/llama']) {
    const refused = await openAiError(await callV1(`models/${id}`));
    expect(refused).toMatchObject({ status: 404, param: 'model' });
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
