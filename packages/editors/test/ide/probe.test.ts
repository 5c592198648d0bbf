import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { portOf } from '../../../../test/far-ends/listening.ts';
import type { Candidate } from '../../ide/discovery/candidate.ts';
import { type ProbeOptions, probe } from '../../ide/probe.ts';
import { closedPort, unending } from './discovery/announcing.ts';
import { serve, startCompanion } from './probed-companion.ts';

const OPTIONS: ProbeOptions = { hosts: ['127.0.0.1'], isGentle: false, signal: unending };

function at(port: number, token?: string): Candidate {
  return { family: 'gemini', source: 'a file', port, roots: undefined, ...(token && { token }) };
}

test.each([
  ['by event streams', false],
  ['by plain JSON', true],
])('tries a companion that answers %s, and ends its session', async (_, isPlain) => {
  const { port, asked } = await startCompanion({ token: 'right', isPlain });
  const summary = 'an-editor 1.2.3: it can show edits';
  expect(await probe(at(port, 'right'), OPTIONS)).toEqual({ state: 'ready', summary });
  expect(asked).toEqual([
    'POST initialize',
    'POST notifications/initialized',
    'POST tools/list',
    'DELETE',
  ]);
});

test.each([
  [['openDiff'], 'it reports open files, and cannot show edits'],
  [['openDiff', 'closeDiff', 'getDiagnostics'], 'it can show edits, and it can report errors'],
])('says what a companion with the tools %j can do', async (tools, can) => {
  const { port } = await startCompanion({ tools });
  const summary = `an-editor 1.2.3: ${can}`;
  expect(await probe(at(port), OPTIONS)).toEqual({ state: 'ready', summary });
});

test('opens no session where it is to be gentle', async () => {
  const { port, asked } = await startCompanion({ token: 'right' });
  const gentle = { ...OPTIONS, isGentle: true };
  expect(await probe(at(port, 'right'), gentle)).toEqual({
    state: 'answers',
    summary: 'it answers',
  });
  expect(await probe(at(port, 'wrong'), gentle)).toEqual({
    state: 'failed',
    summary: 'it refuses the token (401)',
  });
  expect(asked).toEqual(['POST tools/list', 'POST tools/list']);
});

// Other systems have only one address of their own without a setting.
test.runIf(process.platform === 'linux')(
  'tries the next address, with the same host header',
  async () => {
    const { port } = await startCompanion({ address: '127.0.0.2' });
    const hosts = ['127.0.0.1', '127.0.0.2'];
    expect(await probe(at(port), { ...OPTIONS, hosts })).toMatchObject({ state: 'ready' });
    const closed = await closedPort();
    expect((await probe(at(closed), { ...OPTIONS, hosts })).summary).toBe(
      `connect ECONNREFUSED 127.0.0.1:${closed}, and connect ECONNREFUSED 127.0.0.2:${closed}`,
    );
  },
);

test('says that the token is refused', async () => {
  const { port } = await startCompanion({ token: 'right' });
  for (const token of [undefined, 'wrong'])
    expect(await probe(at(port, token), OPTIONS)).toEqual({
      state: 'failed',
      summary: 'it refuses the token (401)',
    });
});

const JSON_TYPE = { 'content-type': 'application/json' };
const STREAM_TYPE = { 'content-type': 'text/event-stream' };
const OPENED = { protocolVersion: '2025-06-18', serverInfo: { name: 'a', version: '1' } };

const BAD: [string, (request: IncomingMessage, response: ServerResponse) => unknown, string][] = [
  ['a web page', (_, to) => to.end('<html>'), 'what answers is no companion'],
  ['another server', (_, to) => to.writeHead(404).end(), 'what answers is no companion (404)'],
  ['a refused host', (_, to) => to.writeHead(403).end(), 'it refuses the address (403)'],
  ['an error', (_, to) => to.writeHead(500).end('stack'), 'it answers with 500'],
  ['a redirect', (_, to) => to.writeHead(302, { location: '/' }).end(), 'it answers with 302'],
  [
    'a protocol error',
    (_, to) => to.writeHead(200, JSON_TYPE).end('{"jsonrpc":"2.0","id":1,"error":{"code":1}}'),
    'what answers is no companion',
  ],
  [
    'a version that would break a header',
    (_, to) =>
      to
        .writeHead(200, JSON_TYPE)
        .end(JSON.stringify({ id: 1, result: { ...OPENED, protocolVersion: 'a\r\nb: c' } })),
    'what answers is no companion',
  ],
  [
    'an endless answer',
    (_, to) => {
      to.writeHead(200, STREAM_TYPE);
      const chunk = `data: ${'x'.repeat(60_000)}\n\n`;
      const timer = setInterval(() => to.write(chunk), 1);
      to.on('close', () => clearInterval(timer));
    },
    'its answer is too large',
  ],
  ['no answer at all', () => {}, 'it does not answer within 2 s: the editor may be frozen'],
  [
    'a stream without an answer',
    (_, to) => to.writeHead(200, STREAM_TYPE).write(': hello\n\n'),
    'it does not answer within 2 s: the editor may be frozen',
  ],
  [
    'no list of tools',
    (request, to) =>
      request.headers['mcp-protocol-version'] === undefined
        ? to.writeHead(200, JSON_TYPE).end(JSON.stringify({ id: 1, result: OPENED }))
        : undefined,
    'it does not answer within 2 s: the editor may be frozen',
  ],
  ['a cut connection', (request) => request.socket.destroy(), 'socket hang up'],
];

test.concurrent.each(BAD)('survives %s', async (_, handle, summary) => {
  const port = await serve((request, response) => {
    request.resume();
    return handle(request, response);
  });
  expect(await probe(at(port), OPTIONS)).toEqual({ state: 'failed', summary });
});

test('survives what does not speak HTTP', async () => {
  const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
  const port = await portOf(server);
  expect(await probe(at(port), OPTIONS)).toMatchObject({
    state: 'failed',
    summary: expect.stringContaining('Parse Error'),
  });
});

test('survives a server that wants to speak another protocol', async () => {
  const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
  const server = createServer((socket) => socket.once('data', () => socket.write(answer)));
  const port = await portOf(server);
  expect(await probe(at(port), OPTIONS)).toEqual({
    state: 'failed',
    summary: 'what answers is no companion',
  });
});

test('ends with its signal', async () => {
  const controller = new AbortController();
  const port = await serve(() => controller.abort(new Error('enough')));
  const { signal } = controller;
  await expect(probe(at(port), { ...OPTIONS, signal })).rejects.toThrow('enough');
});
