import { expect, it, test } from 'vitest';
import { newDeferred } from '../../../machine/deferred.ts';
import {
  type Answering,
  conceptVector,
  embeddingsServer,
  refusing,
  saying,
  silent,
  vectorsFor,
} from '../../../test/far-ends/embeddings-server.ts';
import { Embedder } from '../embedder.ts';
import { INDEX_LIMITS } from '../limits.ts';

const { signal } = new AbortController();
const BOUNDS = { timeoutMs: 5_000, signal };

it('gets a vector for each text, in the order of the texts, by the owner’s key', async () => {
  let reads = 0;
  const readKey = async () => `key-${++reads}`;
  const far = await embeddingsServer({ readKey });
  const embedder = new Embedder(far, signal);
  const vectors = await embedder.embed(['a zebra', 'the violin'], BOUNDS);
  expect(vectors.map((vector) => [...vector])).toEqual(
    ['a zebra', 'the violin'].map((text) => [...Float32Array.from(conceptVector(text))]),
  );
  await embedder.embed(['again'], BOUNDS);
  expect(far.authorizations).toEqual(['Bearer key-1', 'Bearer key-1']);
  expect(far.sent[0]).toEqual({ model: 'concepts', input: ['a zebra', 'the violin'] });
});

it('sends only the beginning of a long text, as whole characters', async () => {
  const far = await embeddingsServer();
  const long = `${'x'.repeat(INDEX_LIMITS.maxSentChars - 1)}😀`;
  await new Embedder(far, signal).embed([long], BOUNDS);
  expect(far.texts()).toEqual([`${long.slice(0, INDEX_LIMITS.maxSentChars - 1)}\uFFFD`]);
});

const two = { input: ['one', 'two'], model: '' };
const changed = (change: (data: ReturnType<typeof vectorsFor>['data']) => unknown) =>
  saying(JSON.stringify({ data: change(vectorsFor(two).data) }));

const WRONG: readonly (readonly [what: string, answer: Answering])[] = [
  ['no JSON', saying('vectors')],
  ['JSON of another form', saying('{"embeddings": [[1, 2], [3, 4]]}')],
  ['an error with the status 200', saying('{"error": {"message": "no"}}')],
  ['a vector too few', changed((data) => data.slice(1))],
  ['a vector too many', changed((data) => [...data, { index: 2, embedding: [1, 2, 3, 4] }])],
  ['one index twice', changed((data) => data.map((each) => ({ ...each, index: 0 })))],
  ['a huge index', changed(([one]) => [one, { index: 4294967296, embedding: [1, 2, 3, 4] }])],
  ['no index', changed((data) => data.map(({ embedding }) => ({ embedding })))],
  ['two lengths', changed(([one]) => [one, { index: 0, embedding: [1] }])],
  ['an empty vector', changed((data) => data.map((each) => ({ ...each, embedding: [] })))],
  ['zeros', changed((data) => data.map((each) => ({ ...each, embedding: [0, 0, 0] })))],
  ['texts for numbers', changed((data) => data.map((each) => ({ ...each, embedding: ['1'] })))],
  ['null among the numbers', saying('{"data":[{"index":0,"embedding":[null]}]}')],
  [
    'infinite numbers',
    saying('{"data":[{"index":0,"embedding":[1e999]},{"index":1,"embedding":[1]}]}'),
  ],
  [
    'too large numbers',
    saying('{"data":[{"index":0,"embedding":[1e300]},{"index":1,"embedding":[1]}]}'),
  ],
  [
    'too long vectors',
    changed((data) =>
      data.map((each) => ({ ...each, embedding: Array(INDEX_LIMITS.maxDimensions + 1).fill(1) })),
    ),
  ],
  ['too many bytes', saying(`"${'x'.repeat(INDEX_LIMITS.maxAnswerBytes)}"`)],
];

test.each(WRONG)('an answer with %s is a failure, and no vector', async (_, answer) => {
  const far = await embeddingsServer();
  far.answer = answer;
  await expect(new Embedder(far, signal).embed(two.input, BOUNDS)).rejects.toMatchObject({
    code: 'BAD_ANSWER',
  });
});

const STATUSES: readonly (readonly [number, Record<string, string>, string, number | undefined])[] =
  [
    [401, {}, 'KEY_REFUSED', undefined],
    [403, {}, 'KEY_REFUSED', undefined],
    [404, {}, 'NOT_FOUND', undefined],
    [400, {}, 'TEXT_REFUSED', undefined],
    [413, {}, 'TEXT_REFUSED', undefined],
    [429, { 'retry-after': '7' }, 'BUSY', 7_000],
    [429, { 'retry-after': 'soon' }, 'BUSY', undefined],
    [503, { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 'BUSY', 0],
    [500, {}, 'REFUSED', undefined],
    [302, { location: 'http://127.0.0.1:1/' }, 'REFUSED', undefined],
  ];

test.each(STATUSES)('the status %i with %o is %s', async (status, headers, code, waitMs) => {
  const far = await embeddingsServer();
  far.answer = refusing(status, headers);
  const failure = await new Embedder(far, signal)
    .embed(['a'], BOUNDS)
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code, waitMs });
  expect(String(failure)).not.toContain('the text that was refused');
});

it('reads the key again after the server has refused it', async () => {
  let reads = 0;
  const far = await embeddingsServer({ readKey: async () => `key-${++reads}` });
  const embedder = new Embedder(far, signal);
  far.answer = refusing(401);
  await expect(embedder.embed(['a'], BOUNDS)).rejects.toThrow();
  far.answer = undefined;
  await embedder.embed(['a'], BOUNDS);
  expect(far.authorizations).toEqual(['Bearer key-1', 'Bearer key-2']);
});

it('goes on reading a slow key for other requests where one ends', async () => {
  const key = newDeferred<string>();
  const signals: AbortSignal[] = [];
  const readKey = (reading: AbortSignal) => {
    signals.push(reading);
    return key.promise;
  };
  const far = await embeddingsServer({ readKey });
  const embedder = new Embedder(far, signal);
  const ending = new AbortController();
  const ended = embedder.embed(['a'], { ...BOUNDS, signal: ending.signal });
  const late = embedder.embed(['b'], { timeoutMs: 20, signal });
  const patient = embedder.embed(['c'], BOUNDS);
  ending.abort(new Error('enough'));
  await expect(ended).rejects.toThrow('enough');
  await expect(late).rejects.toMatchObject({ code: 'LATE' });
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  key.resolve('key-1');
  expect(await patient).toHaveLength(1);
  expect(far.authorizations).toEqual(['Bearer key-1']);
});

it('fails for a key that cannot be read, a server that is gone, and one that is late', async () => {
  const readKey = async () => Promise.reject(new Error('the secret'));
  const keyless = new Embedder(await embeddingsServer({ readKey }), signal);
  const failure = await keyless.embed(['a'], BOUNDS).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'KEY_UNREADABLE' });
  expect(String(failure)).not.toContain('the secret');
  const gone = new Embedder(
    { baseUrl: 'http://127.0.0.1:1', model: 'a', isPrivate: false },
    signal,
  );
  await expect(gone.embed(['a'], BOUNDS)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  const far = await embeddingsServer();
  far.answer = silent;
  const asked = new Embedder(far, signal).embed(['a'], { timeoutMs: 50, signal });
  await expect(asked).rejects.toMatchObject({ code: 'LATE' });
});

it('ends with its signal', async () => {
  const far = await embeddingsServer();
  far.answer = silent;
  const ending = new AbortController();
  const asked = new Embedder(far, signal).embed(['a'], {
    timeoutMs: 60_000,
    signal: ending.signal,
  });
  await expect.poll(() => far.sent.length).toBe(1);
  ending.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
});
