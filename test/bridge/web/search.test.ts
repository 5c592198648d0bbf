import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type SearchService, searchWeb } from '../../../bridge/web/search.ts';
import { MIB } from '../../../shared/units.ts';
import { portOf } from '../../far-ends/listening.ts';

const FOUND = [
  { title: 'One &amp; two', url: 'https://a.test/1', content: 'a <strong>b</strong>\n c' },
  { title: 'Odd', url: 'javascript:alert(1)', content: '' },
  { url: 'https://a.test/2' },
];
const READ = [
  { title: 'One & two', url: 'https://a.test/1', snippet: 'a b c' },
  { title: 'https://a.test/2', url: 'https://a.test/2', snippet: '' },
];
const PACKED = { 'content-encoding': 'gzip' };
const BOMB = gzipSync(Buffer.alloc(16 * MIB));
const BRAVE = FOUND.map(({ content: description, ...rest }) => ({ ...rest, description }));

it.each<[SearchService['shape'], unknown, object]>([
  [
    'searxng',
    { results: FOUND },
    { url: '/search?q=a+%26+b&format=json', method: 'GET', authorization: 'Bearer k' },
  ],
  ['brave', { web: { results: BRAVE } }, { url: '/?q=a+%26+b&count=5', method: 'GET', token: 'k' }],
  [
    'tavily',
    { results: FOUND },
    {
      url: '/',
      method: 'POST',
      authorization: 'Bearer k',
      body: '{"query":"a & b","max_results":5}',
    },
  ],
])('reads the answers of %s', async (shape, answer, request) => {
  const asked: IncomingMessage[] = [];
  const bodies: string[] = [];
  const url = await serve(async (incoming, response) => {
    asked.push(incoming);
    bodies.push(await text(incoming));
    response.end(JSON.stringify(answer));
  });
  const service = { shape, url, readKey: async () => 'k' };
  expect(await searchWeb(service, { query: 'a & b', count: 5 }, never())).toEqual(READ);
  const [{ url: path, method, headers } = {} as IncomingMessage] = asked;
  const { authorization, 'x-subscription-token': token } = headers;
  expect({ url: path, method, authorization, token, body: bodies[0] || undefined }).toEqual(
    request,
  );
});

it('gives no more results than wanted, each within its bounds', async () => {
  const results = Array.from({ length: 50 }, (_, index) => ({
    title: 't'.repeat(5_000),
    url: `https://a.test/${index}`,
    content: 'c'.repeat(5_000),
  }));
  const url = await serve((_, response) => response.end(JSON.stringify({ results })));
  const found = await searchWeb({ shape: 'searxng', url }, { query: 'x', count: 3 }, never());
  expect(found.map(({ title, snippet }) => [title.length, snippet.length])).toEqual(
    Array(3).fill([200, 600]),
  );
});

it.each<[string, string, RequestListener]>([
  ['SEARCH_KEY_REFUSED', 'its key (401)', (_, response) => response.writeHead(401).end('SECRET')],
  ['SEARCH_KEY_REFUSED', 'its key (403)', (_, response) => response.writeHead(403).end()],
  ['SEARCH_LIMITED', '(429)', (_, response) => response.writeHead(429).end()],
  ['SEARCH_FAILED', 'answered 500', (_, response) => response.writeHead(500).end('SECRET')],
  [
    'SEARCH_FAILED',
    'answered 302',
    (_, response) => response.writeHead(302, { location: '/' }).end(),
  ],
  ['SEARCH_FAILED', 'JSON', (_, response) => response.end('<html>SECRET')],
  ['SEARCH_FAILED', 'another form', (_, response) => response.end('{"results":"SECRET"}')],
  ['SEARCH_FAILED', 'too long', (_, response) => endless(response)],
  ['SEARCH_FAILED', 'too long', (_, response) => response.writeHead(200, PACKED).end(BOMB)],
  ['SEARCH_FAILED', 'cannot be reached', (request) => request.socket.destroy()],
])('a service that fails is %s: %s', async (code, words, listener) => {
  const url = await serve(listener);
  const search = searchWeb({ shape: 'searxng', url }, { query: 'x', count: 3 }, never());
  const error = await search.then(String, (thrown) => thrown);
  expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
  expect(error.message).not.toContain('SECRET');
});

it('a key that cannot be read is reported, and nothing is sent', async () => {
  let hits = 0;
  const url = await serve((_, response) => response.end(String(++hits)));
  const readKey = () => Promise.reject(new Error('SECRET'));
  const search = searchWeb({ shape: 'brave', url, readKey }, { query: 'x', count: 1 }, never());
  const error = await search.then(String, (thrown) => thrown);
  expect([error.code, error.message.includes('SECRET'), hits]).toEqual([
    'SEARCH_KEY_REFUSED',
    false,
    0,
  ]);
});

it('a service that never answers ends with the call', async () => {
  const cancel = new AbortController();
  const url = await serve(() => cancel.abort(new Error('enough')));
  const search = searchWeb({ shape: 'searxng', url }, { query: 'x', count: 1 }, cancel.signal);
  await expect(search).rejects.toThrow('enough');
});

function never(): AbortSignal {
  return new AbortController().signal;
}

function endless(response: Parameters<RequestListener>[1]): void {
  const more = () => {
    while (response.write('x'.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}

async function serve(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await portOf(createServer(listener))}/`;
}
