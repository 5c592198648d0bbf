import { createServer, type RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { findModelServers, listModelsAt } from '../../../local/config/discover.ts';
import { portOf } from '../../far-ends/listening.ts';

const NONE = 'http://127.0.0.1:1';
const signal = new AbortController().signal;

/** A server that answers each path with the JSON that stands for it, or as the listener does. */
async function serve(answer: Readonly<Record<string, unknown>> | RequestListener): Promise<string> {
  const listener: RequestListener =
    typeof answer === 'function'
      ? answer
      : ({ url = '' }, response) => {
          response.writeHead(url in answer ? 200 : 404).end(JSON.stringify(answer[url] ?? {}));
        };
  return `http://127.0.0.1:${await portOf(createServer(listener))}`;
}

test('finds the servers that run, with the models that chat', async () => {
  const ollama = await serve({ '/api/tags': { models: [{ name: 'qwen3-coder:30b', size: 1 }] } });
  const studio = await serve({
    '/api/v0/models': {
      data: [
        { id: 'gemma', type: 'vlm' },
        { id: 'nomic', type: 'embeddings' },
      ],
    },
  });
  const llama = await serve({ '/v1/models': { data: [{ id: 'gpt-oss', owned_by: 'llamacpp' }] } });
  expect(await findModelServers(signal, [ollama, studio, llama])).toEqual([
    { name: 'Ollama', baseUrl: `${ollama}/v1`, models: ['qwen3-coder:30b'] },
    { name: 'LM Studio', baseUrl: `${studio}/v1`, models: ['gemma'] },
    { name: 'llama.cpp', baseUrl: `${llama}/v1`, models: ['gpt-oss'] },
  ]);
});

test.each<[string, RequestListener]>([
  ['never answers', () => {}],
  ['never ends', (_, response) => void response.writeHead(200).write('{"models": [')],
  ['sends another page', (_, response) => void response.end('<html>')],
  ['sends other JSON', (_, response) => void response.end('{"models": 5}')],
  ['sends elsewhere', (_, response) => void response.writeHead(302, { location: '/x' }).end()],
  [
    'sends without end',
    (_, response) => void response.end(`{"models": [], "x": "${'x'.repeat(2 ** 21)}"}`),
  ],
])('takes no program for a model server that %s', async (_, listener) => {
  const origin = await serve(listener);
  expect(await findModelServers(signal, [origin, origin, origin])).toEqual([]);
});

test('can be cancelled', async () => {
  const cancelled = AbortSignal.abort(new Error('enough'));
  await expect(findModelServers(cancelled, [NONE, NONE, NONE])).rejects.toThrow('enough');
});

test('lists the models of another server, where it lists them', async () => {
  const origin = await serve({ '/v1/models': { data: [{ id: 'a' }, { id: 'b' }] } });
  expect(await listModelsAt(`${origin}/v1/`, signal)).toEqual({
    outcome: 'listed',
    models: ['a', 'b'],
  });
  const none = { outcome: 'unreachable', why: expect.any(String) };
  expect(await listModelsAt(NONE, signal)).toEqual(none);
});
