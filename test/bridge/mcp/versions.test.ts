import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { newDeferred } from '../../../machine/deferred.ts';
import { startModernMcpServer } from '../../far-ends/modern-mcp-server.ts';
import { startServers } from './offering.ts';

const MODERN = {
  command: process.execPath,
  args: [join(import.meta.dirname, '../../far-ends/modern-mcp-server.ts')],
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
