import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { newDeferred } from '../../../machine/deferred.ts';
import { startModernMcpServer } from '../../../test/far-ends/modern-mcp-server.ts';
import { startServers } from './offering.ts';

const MODERN = {
  command: process.execPath,
  args: [join(import.meta.dirname, '../../../test/far-ends/modern-mcp-server.ts')],
};

async function startFar() {
  const waiting = newDeferred<void>();
  const far = await startModernMcpServer(waiting.resolve);
  onTestFinished(() => far[Symbol.asyncDispose]());
  return { ...far, waiting: waiting.promise };
}

describe.each(['stdio', 'http'])('a server of version 2026-07-28 alone, over %s', (way) => {
  const list = async () => (way === 'stdio' ? MODERN : { url: (await startFar()).url });

  it('is offered and called', async () => {
    const { until, call, offers } = startServers({ modern: await list() });
    await until('mcp_modern_echo');
    expect((await call('mcp_modern_echo', { words: 'new' })).data).toBe('new');
    const [said] = offers.set(() => false)?.instructions ?? [];
    expect(said).toEqual({ server: 'modern', text: 'Be new.' });
  });

  it('asks the person in the middle of a call', async () => {
    const { until, call } = startServers({ modern: await list() });
    await until('mcp_modern_book');
    const elicit = vi.fn(async () => ({ decision: 'once', content: '{"meal":true}' }) as const);
    expect((await call('mcp_modern_book', {}, { elicit })).data).toBe('{"meal":true}');
    expect(elicit.mock.calls[0]).toMatchObject([{ message: 'A meal?' }, {}]);
  });
});

it('a server of version 2026-07-28 learns of the workspace as its root', async () => {
  const { until, call, workspace } = startServers({ modern: MODERN });
  await until('mcp_modern_roots');
  expect((await call('mcp_modern_roots')).data).toContain(`file://${workspace}`);
});

it('a call whose stream broke has an unknown outcome, and is not repeated', async () => {
  const far = await startFar();
  const { until, call } = startServers({ modern: { url: far.url } });
  await until('mcp_modern_wait');
  const called = call('mcp_modern_wait', {}, { onOutput: () => {} });
  called.catch(() => {});
  await far.waiting;
  far.breakStreams();
  await expect(called).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' });
  await until('mcp_modern_echo');
});

it('a server that ends at a question it does not know is asked in the old way', async () => {
  const script = `
    const lines = require('node:readline').createInterface({ input: process.stdin });
    const send = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    let isOpen = false;
    lines.on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (method === 'initialize') isOpen = true;
      if (!isOpen) process.exit(1);
      const serverInfo = { name: 'strict', version: '1' };
      const { protocolVersion } = params ?? {};
      if (method === 'initialize') send(id, { protocolVersion, serverInfo, capabilities: { tools: {} } });
      if (method === 'tools/list') send(id, { tools: [{ name: 'go', inputSchema: { type: 'object' } }] });
    });`;
  const { until } = startServers({ strict: { command: process.execPath, args: ['-e', script] } });
  await until('mcp_strict_go');
});

type BareResult = object | ((headers: IncomingHttpHeaders) => object);

/** Answers each method with this result, over HTTP. A result with a `code` is an error. */
async function startBare(results: Readonly<Record<string, BareResult>>): Promise<string> {
  const http = createServer(async (request, response) => {
    const { id, method } = JSON.parse((await text(request)) || '{}');
    const given = results[method];
    if (given === undefined) return void response.writeHead(id === undefined ? 202 : 404).end();
    const result = typeof given === 'function' ? given(request.headers) : given;
    const isError = 'code' in result;
    response.writeHead(isError ? 400 : 200, { 'content-type': 'application/json' });
    const answer = isError ? { error: result } : { result };
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  onTestFinished(() => void http.close().closeAllConnections());
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

const DISCOVERED = {
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'bare', version: '1' } },
};
const listed = (name: string, property: object) => ({
  name,
  inputSchema: { type: 'object', properties: { part: property } },
});

it('a result without its type is complete', async () => {
  const url = await startBare({
    'server/discover': DISCOVERED,
    'tools/list': { tools: [listed('go', { type: 'string' })], ttlMs: 0, cacheScope: 'private' },
    'tools/call': { content: [{ type: 'text', text: 'gone' }] },
  });
  const { until, call } = startServers({ bare: { url } });
  await until('mcp_bare_go');
  expect((await call('mcp_bare_go', { part: 'a' })).data).toBe('gone');
});

it('a tool that declares a header in a wrong way is left out, and the log names it', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const tools = [
    listed('wrong', { type: 'string', 'x-mcp-header': 'two words' }),
    listed('right', { type: 'string', 'x-mcp-header': 'Part' }),
  ];
  const page = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  const url = await startBare({
    'server/discover': DISCOVERED,
    'tools/list': { ...page, tools },
  });
  const { until, names } = startServers({ bare: { url } });
  await until('mcp_bare_right');
  expect(names()).toEqual(['mcp_bare_right']);
  expect(JSON.stringify(log.mock.calls)).toContain('bare: wrong cannot be offered');
});

it('a call with outdated headers is refused, and the next one has those of the new list', async () => {
  let header = 'Old';
  const page = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  const url = await startBare({
    'server/discover': DISCOVERED,
    'tools/list': () => ({
      ...page,
      tools: [listed('go', { type: 'string', 'x-mcp-header': header })],
    }),
    'tools/call': (headers) =>
      headers['mcp-param-new'] === 'a'
        ? { content: [{ type: 'text', text: 'gone' }] }
        : { code: -32020, message: 'The header Mcp-Param-New is missing.' },
  });
  const { until, call } = startServers({ bare: { url } });
  await until('mcp_bare_go');
  header = 'New';
  const refused = { code: 'TOOL_ERROR' };
  await expect(call('mcp_bare_go', { part: 'a' })).rejects.toMatchObject(refused);
  await vi.waitFor(async () =>
    expect((await call('mcp_bare_go', { part: 'a' })).data).toBe('gone'),
  );
});
