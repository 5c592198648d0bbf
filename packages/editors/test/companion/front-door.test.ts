import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { expect, it, onTestFinished, vi } from 'vitest';
import { COMPANION_LIMITS } from '../../companion/limits.ts';
import { openRequest, openSession, rawRequest, startCompanion, tokenOf } from './companions.ts';

async function openDoor() {
  const { companion, ...rest } = await startCompanion();
  const authorization = `Bearer ${tokenOf(companion, 'gemini')}`;
  const json = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return { companion, port: companion.port, headers: { authorization, ...json }, ...rest };
}

it.each([
  ['no token', 401, { authorization: '' }],
  ['a wrong token', 401, { authorization: `Bearer ${'x'.repeat(43)}` }],
  ['a token of another scheme', 401, { authorization: 'Basic eDp5' }],
  ['the page of a web site', 403, { origin: 'https://evil.test' }],
  ['a page of this machine', 403, { origin: 'http://localhost:3000' }],
  ['a page from a file', 403, { origin: 'null' }],
  ['a host that was bound anew to 127.0.0.1', 403, { host: 'evil.test' }],
  ['another port of 127.0.0.1', 403, { host: '127.0.0.1:1' }],
  ['no session, and no initialize', 400, {}],
  ['a session that does not exist', 404, { 'mcp-session-id': 'gone' }],
])('refuses %s: %i', async (_, status, more) => {
  const { port, headers } = await openDoor();
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const { body, ...answer } = await rawRequest(
    port,
    { method: 'POST', headers: { ...headers, ...more } },
    message,
  );
  expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/json' } });
  expect(JSON.parse(body)).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32_000, message: expect.stringMatching(/^[^\n]{10,100}$/) },
  });
});

it.each([
  ['GET', '/', 404],
  ['GET', '/mcp/x', 404],
  ['PUT', '/mcp', 405],
  ['OPTIONS', '/mcp', 405],
  ['GET', '/mcp', 400],
  ['DELETE', '/mcp', 400],
])('%s %s is answered with %i', async (method, path, status) => {
  const { port, headers } = await openDoor();
  expect(await rawRequest(port, { method, path, headers })).toMatchObject({ status });
});

it.each(['localhost', '127.0.0.1', 'host.docker.internal', 'LOCALHOST'])(
  'answers by the name %s, and to any case of the scheme',
  async (name) => {
    const { port, headers, companion } = await openDoor();
    const authorization = `bearer ${tokenOf(companion, 'qwen')}`;
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    const answer = await rawRequest(
      port,
      { method: 'POST', headers: { ...headers, authorization, host: `${name}:${port}` } },
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    );
    expect(answer.status).toBe(200);
  },
);

it('looks at the token before it reads the body', async () => {
  const { port, headers } = await openDoor();
  const head = { ...headers, authorization: 'Bearer wrong', 'content-length': 100 };
  const answer = await rawRequest(port, { method: 'POST', headers: head }, undefined);
  expect(answer).toMatchObject({ status: 401, headers: { connection: 'close' } });
});

it('a body that says it is too long is not read, one that is too long is not kept', async () => {
  const { port, headers } = await openDoor();
  const bytes = COMPANION_LIMITS.maxBodyBytes + 1;
  const sized = { ...headers, 'content-length': bytes };
  expect(await rawRequest(port, { method: 'POST', headers: sized }, undefined)).toMatchObject({
    status: 413,
    body: expect.stringContaining('33554432 bytes'),
  });
  const unsized = { ...headers, 'transfer-encoding': 'chunked' };
  // The connection ends while the client still writes: it may see the answer, or only the end.
  const ending = rawRequest(port, { method: 'POST', headers: unsized }, Buffer.alloc(bytes, ' '));
  expect(await ending.catch(({ code }) => ({ status: code }))).toMatchObject({
    status: expect.toBeOneOf([413, 'ECONNRESET', 'EPIPE']),
  });
  expect(await rawRequest(port, { headers })).toMatchObject({ status: 400 });
});

it('bodies that are read at the same time are bounded together', async () => {
  const { port, headers } = await openDoor();
  const half = Buffer.alloc(COMPANION_LIMITS.maxReadingBytes / 4, ' ');
  const sending = Array.from({ length: 5 }, () => sendHalf(port, headers, half));
  expect(await Promise.any(sending)).toBe(503);
});

it.each(['', '{', 'null', '[]', '"words"', '['.repeat(1000) + ']'.repeat(1000)])(
  'a body that is no message is refused: %.20s',
  async (body) => {
    const { port, headers } = await openDoor();
    const answer = await rawRequest(port, { method: 'POST', headers }, body);
    expect(answer.status).toBe(400);
    expect(answer.body).not.toContain('    at ');
  },
);

it('a file of more than 10 MB is proposed and accepted', async () => {
  const { companion, shown } = await startCompanion();
  const session = await openSession(companion);
  const newContent = 'x\n'.repeat(6 * 1024 * 1024);
  const stream = await session.openStream();
  const answer = await session.call('openDiff', { filePath: '/a', newContent });
  expect(JSON.parse(answer.body)).toMatchObject({ result: { content: [] } });
  expect(shown[0]?.newContent).toBe(newContent);
  shown[0]?.answer({ decision: 'accepted', content: newContent });
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > 18 * 1024 * 1024) break;
  }
  expect(bytes).toBeGreaterThan(18 * 1024 * 1024);
});

it('a CLI that does not read its stream is cut off before it fills the memory', async () => {
  const { companion, shown } = await startCompanion();
  const session = await openSession(companion);
  const stream = await session.openStream();
  const isCut = new Promise((resolve) => stream.on('error', resolve).on('close', resolve));
  const content = 'x'.repeat(COMPANION_LIMITS.maxUnreadBytes / 4);
  for (let count = 0; count < 6; count++) {
    await session.call('openDiff', { filePath: '/a', newContent: '' });
    shown.at(-1)?.answer({ decision: 'accepted', content });
  }
  await vi.waitFor(() => expect(shown).toHaveLength(6));
  stream.resume();
  await isCut;
  expect(stream.complete).toBe(false);
});

it('listens on 127.0.0.1 only', async ({ skip }) => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal);
  if (outside === undefined) return skip('This machine has no address but 127.0.0.1.');
  const { port } = await openDoor();
  await expect(openRequest(port, { host: outside.address })).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  });
});

/** Sends a part of a body, and resolves with the status that comes before the rest. */
function sendHalf(port: number, headers: Record<string, string>, part: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': 2 * part.length };
    const options = { host: '127.0.0.1', port, path: '/mcp', method: 'POST' };
    const sent = request({ ...options, headers: { ...headers, ...length } });
    sent.on('response', ({ statusCode = 0 }) => resolve(statusCode)).on('error', reject);
    sent.write(part);
    onTestFinished(() => void sent.destroy());
  });
}
