import { expect, it, vi } from 'vitest';
import { freshModules } from '../../../test/fresh-modules.ts';

/** A server that is gone keeps its tools for a moment only here. */
vi.mock('../limits.ts', async (importOriginal) => {
  const { MCP_LIMITS } = await importOriginal<typeof import('../limits.ts')>();
  return { MCP_LIMITS: { ...MCP_LIMITS, keepMs: 1_500, restartMs: 60_000 } };
});

freshModules();
const { startDemo } = await import('./offering.ts');

it('a server that stays away loses its tools, and the calls that wait for it', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { call, names } = await startDemo('mcp_demo_die');
  await expect(call('mcp_demo_die')).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' });
  expect(names()).toContain('mcp_demo_echo');
  await expect(call('mcp_demo_echo', { words: 'x' })).rejects.toMatchObject({
    code: 'SERVER_UNAVAILABLE',
    message: expect.stringContaining('Nothing was sent to it'),
  });
  expect(names()).toEqual([]);
});
