import { expect, it, vi } from 'vitest';
import { MCP_REPORT_LIMITS } from '../../../../shared/limits.ts';
import { McpServerReports } from '../../../../shared/wire/mcp-servers.ts';
import { reportServers } from '../../report.ts';
import { FIXTURE, startDemo, startServers } from '../offering.ts';

const RESOURCES = 'mcp_demo_resources_read';
const PROMPTS = 'mcp_demo_prompts_get';

it('the agent lists and reads the resources of a server', async () => {
  const { call, offers } = await startDemo(RESOURCES);
  expect(offers.set(() => true)?.offers.find(({ name }) => name === RESOURCES)).toMatchObject({
    description: expect.stringMatching(/^Reads a resource of the MCP server "demo"/),
    effect: 'read',
    origin: { server: 'demo', tool: 'resources/read' },
  });
  expect((await call(RESOURCES)).data).toBe(
    'note://1 (text/plain): a note. The first one.\nnote://{number} (a template): any note',
  );
  expect((await call(RESOURCES, { uri: 'note://1' })).data).toBe(
    '[resource: note://1]\nthe first note',
  );
  expect((await call(RESOURCES, { uri: 'note://7' })).data).toContain('a note from note://7');
  await expect(call(RESOURCES, { uri: 'other://7' })).rejects.toMatchObject({ code: 'TOOL_ERROR' });
});

it('the agent lists and gets the prompts of a server', async () => {
  const { call } = await startDemo(PROMPTS);
  expect((await call(PROMPTS)).data).toBe('greet: Greet. Greets a person. [arguments: name]');
  expect((await call(PROMPTS, { name: 'greet', arguments: { name: 'Ada' } })).data).toBe(
    '[user]\nGreet Ada warmly.',
  );
  await expect(call(PROMPTS, { name: 'greet' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
  });
});

it('people get the state of each server, and what it has', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const missing = { command: '/nonexistent/server' };
  const { until, reports } = startServers({
    off: { ...FIXTURE, disabled: true },
    demo: FIXTURE,
    missing,
  });
  await until(RESOURCES);
  await vi.waitFor(() => expect(reports()[2]).toMatchObject({ state: 'down' }));
  const nothing = { toolCount: 0, resources: [], resourceCount: 0, prompts: [], promptCount: 0 };
  expect(reports()).toEqual([
    {
      name: 'off',
      state: 'down',
      why: 'disabled',
      reason: 'it is disabled in mcp.json',
      ...nothing,
    },
    {
      name: 'demo',
      state: 'ready',
      about: 'fixture 1.2.3',
      toolCount: expect.any(Number),
      resources: [{ uri: 'note://1', name: 'a note' }],
      resourceCount: 1,
      prompts: [{ name: 'greet', title: 'Greet' }],
      promptCount: 1,
    },
    { name: 'missing', state: 'down', reason: expect.stringContaining('ENOENT'), ...nothing },
  ]);
});

it('the report of servers with any number of things fits its frame', () => {
  const resources = Array.from({ length: 500 }, (_, index) => ({
    uri: `note://${index}/${'é\n'.repeat(500)}`,
    name: '\u0000'.repeat(500),
  }));
  const offering = { resources, templates: [], prompts: [] };
  const state = {
    state: 'ready' as const,
    about: 'x'.repeat(1_000),
    instructions: undefined,
    tools: [],
    offering,
  };
  const servers = Array.from({ length: 40 }, (_, index) => ({ name: `s${index}`, state }));
  const reports = reportServers(servers);
  expect(McpServerReports.safeParse(reports).error).toBeUndefined();
  expect(reports).toHaveLength(MCP_REPORT_LIMITS.maxServers);
  expect(reports[0]).toMatchObject({ resourceCount: 500 });
  expect(reports[0]?.resources.length).toBeGreaterThan(10);
});
