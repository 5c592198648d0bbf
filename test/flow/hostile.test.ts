import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { type House, startHouse, until, workerdOf } from './house.ts';

let house: House;

beforeAll(async () => {
  house = await startHouse({ args: ['--no-bridge'] });
  return () => house[Symbol.asyncDispose]();
});

const HOSTS = [
  ...['127.0.0.1 x', 'a b', '[::1', 'a:b:c', 'a:99999', '%zz', 'ex ample', '<', '1.2.3.4.5', '['],
  ...[']', ':80', 'a:-1', '', ' ', '\\', 'a/b', 'a?b', 'a#b', 'a@b'],
  ...['a\tb', '.', '-', '0x7f', '\u00fc'],
];

describe.concurrent('a hostile client', () => {
  test('a refused client that is still sending reads why, and keeps its connection', async () => {
    const { port } = new URL(house.ready.url);
    const socket = connect(Number(port), '127.0.0.1');
    const answers = text(socket);
    for (const path of ['/api/v1/chat/completions', '/v1/chat/completions']) {
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\ncontent-length: 2\r\n\r\n`);
      await new Promise((resolve) => setTimeout(resolve, 100));
      socket.write('{}');
    }
    socket.end('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect((await answers).match(/HTTP\/1\.1 \d+/g)).toEqual([
      'HTTP/1.1 401',
      'HTTP/1.1 401',
      'HTTP/1.1 200',
    ]);
  });

  /** workerd answers CONNECT itself, with 500, before any code of ours: what counts is that nothing is opened. */
  test.each(['example.com:443', '127.0.0.1:22', '/health'])(
    'CONNECT %s opens no tunnel',
    async (to) => {
      const { answer } = send(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`);
      expect(await answer).toMatch(/^HTTP\/1\.1 [45]\d\d .*Connection: close/s);
      expect((await house.fetch('/health')).status).toBe(200);
    },
  );

  test.each([
    ...['/', '/health', '/openapi.json', '/api/v1/me', '/v1/models', '/nowhere'],
    ...['/api/v1/bridges/x/connect', '/aiserver.v1.AiService/AvailableModels', '/metrics'],
  ])('no Host makes %s fail', async (path) => {
    const statuses = HOSTS.map(async (host) => {
      const { answer } = send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      const [head = '', body = ''] = (await answer).split('\r\n\r\n');
      const status = head.split(' ')[1];
      if (status === '400' && body.startsWith('{')) {
        expect(JSON.parse(body)).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
      }
      return [host, status];
    });
    const failed = (await Promise.all(statuses)).filter(([, status = '5']) =>
      status.startsWith('5'),
    );
    expect(failed).toEqual([]);
  });
});

test('a conversation whose file is no database leaves the others and the list, and is reported in one sentence', async () => {
  const { conversationId } = await say('Damaged');
  const other = await say('Whole');
  process.kill(workerdOf(house), 'SIGKILL');
  garble(conversationId);
  await until(async () => (await house.fetch('/health').catch(() => null))?.ok === true);
  const read = await house.fetch(`/api/v1/conversations/${conversationId}`);
  expect([read.status, (await read.text()).includes(' at ')]).toEqual([500, false]);
  const removed = await house.fetch(`/api/v1/conversations/${conversationId}`, {
    method: 'DELETE',
  });
  expect(await removed.json()).toMatchObject({ error: { message: /is off your list/ } });
  const { items } = await house.client.listConversations();
  expect(items.map(({ id }) => id)).not.toContain(conversationId);
  const rest = await house.fetch(`/api/v1/conversations/${other.conversationId}`);
  expect(rest.status).toBe(200);
});

async function say(content: string) {
  const body = JSON.stringify({ messages: [{ role: 'user', content }] });
  const response = await house.fetch('/api/v1/chat/completions', { method: 'POST', body });
  return (await response.json()) as { conversationId: string; status: string };
}

/** What comes back until the server closes. */
function send(request: string) {
  const { hostname, port } = new URL(house.ready.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined); // A reset behind the answer.
  socket.write(request);
  return { socket, answer: text(socket) };
}

/** Overwrites the head of the conversation's file. What is only in its log belongs to another file then, and is ignored. */
function garble(conversationId: string): void {
  const folder = join(house.state, 'storage', 'drawbridge-Conversation');
  for (const name of readdirSync(folder).filter((file) => /^[0-9a-f]+\.sqlite$/.test(file))) {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    const log = existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : '';
    if (!bytes.includes(conversationId) && !log.includes(conversationId)) continue;
    writeFileSync(path, bytes.fill(0x41, 0, 200));
    if (log !== '') writeFileSync(`${path}-wal`, '');
  }
}
