import { expect, it, onTestFinished, vi } from 'vitest';
import { startHttpMcpServer } from '../../../test/far-ends/mcp-http-server.ts';
import { startServers } from './offering.ts';

async function startFar(port?: number) {
  const far = await startHttpMcpServer(port);
  onTestFinished(() => far.close().catch(() => {}));
  return far;
}

it('a server behind streamable HTTP is offered and called, with the headers of its owner', async () => {
  const far = await startFar();
  const headers = { authorization: 'Bearer of the owner' };
  const { until, call } = startServers({ far: { url: far.url, headers } });
  await until('mcp_far_shout');
  expect((await call('mcp_far_shout', { words: 'hello' })).data).toBe('HELLO');
  expect(far.headers.every(({ authorization }) => authorization === 'Bearer of the owner')).toBe(
    true,
  );
});

it('one that was started again, and knows its session no more, is connected anew', async () => {
  const far = await startFar();
  const { until, call, names } = startServers({ far: { url: far.url } });
  await until('mcp_far_shout');
  far.forget();
  expect((await call('mcp_far_shout', { words: 'a' })).data).toBe('A');
  expect(names()).toContain('mcp_far_shout');
  expect((await call('mcp_far_shout', { words: 'b' })).data).toBe('B');
});

it('one that is gone says so, and gets a call that it has not taken when it is back', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const far = await startFar();
  const port = Number(new URL(far.url).port);
  const { until, call, reports } = startServers({ far: { url: far.url } });
  await until('mcp_far_shout');
  await far.close();
  const early = call('mcp_far_shout', { words: 'a' });
  early.catch(() => {});
  await vi.waitFor(() => expect(reports()).toMatchObject([{ state: 'down' }]));
  await startFar(port);
  expect((await early).data).toBe('A');
  expect((await call('mcp_far_shout', { words: 'b' })).data).toBe('B');
});

it('one whose answer is far too long loses the call', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const far = await startFar();
  const { until, call } = startServers({ far: { url: far.url, timeout: 20_000 } });
  await until('mcp_far_print');
  const { data } = await call('mcp_far_print', { bytes: 1_000_000 });
  expect(data).toContain('characters of output are left out here');
  await expect(call('mcp_far_print', { bytes: 20_000_000 })).rejects.toMatchObject({
    code: 'UNKNOWN_OUTCOME',
  });
});
