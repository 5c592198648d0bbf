import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { isAlive } from '../../../test/local/processes.ts';
import { FIXTURE, startDemo, startServers } from './offering.ts';

describe('an MCP server on stdio', () => {
  it('offers its tools in its own words, marked with its name', async () => {
    const { offers } = await startDemo('mcp_demo_echo');
    expect(offers.set(() => true)?.offers[0]).toMatchObject({
      name: 'mcp_demo_echo',
      title: 'Echo',
      description: 'A tool of the MCP server "demo", which describes it so: Says it again.',
      inputSchema: { type: 'object', required: ['words'] },
      effect: 'read',
      origin: { server: 'demo', tool: 'echo' },
    });
    expect(offers.set(() => false)).toMatchObject({
      offers: expect.arrayContaining([expect.objectContaining({ effect: 'execute' })]),
      instructions: [{ server: 'demo', text: 'Be brief.' }],
    });
  });

  it('is called, and checked by its own schema before', async () => {
    const { call } = await startDemo('mcp_demo_echo');
    expect(await call('mcp_demo_echo', { words: 'Grüße 😀' })).toEqual({
      status: 'success',
      data: 'Grüße 😀',
    });
    await expect(call('mcp_demo_echo', { words: 7 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
    });
    expect(await call('mcp_demo_fail')).toEqual({
      status: 'error',
      code: 'TOOL_ERROR',
      data: 'no such ticket',
    });
    expect(await call('mcp_demo_mixed')).toEqual({
      status: 'success',
      data: 'first\n\n[image: image/png, 5 bytes, shown to the person]\n\n[resource: note://1]\nthe note\n\n[resource: note://2, another note]',
      metadata: { images: [{ mimeType: 'image/png', data: 'MTIzNDU=' }] },
    });
  });

  it('gets the environment that its owner lists, and nothing of the bridge’s', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'secret');
    const { call, folder } = await startDemo('mcp_demo_surroundings', { env: { TICKETS: 'on' } });
    const { data } = await call('mcp_demo_surroundings');
    const { cwd, env } = JSON.parse(data);
    expect(cwd).toBe(folder);
    expect(env).toMatchObject({ TICKETS: 'on', PATH: process.env['PATH'] });
    expect(JSON.stringify(env)).not.toContain('secret');
  });

  it('sends its progress as live output', async () => {
    const { call } = await startDemo('mcp_demo_steps');
    const said: string[] = [];
    const result = await call('mcp_demo_steps', {}, { onOutput: (text) => said.push(text) });
    expect(result.data).toBe('all steps');
    // Which of the others are sent depends on when they arrive.
    const all = ['1/3 step 1\n', '2/3 step 2\n', '3/3 step 3\n'];
    expect(said).toEqual(all.filter((line) => line === all[0] || said.includes(line)));
  });

  it('learns of a cancel', async () => {
    const { call, folder } = await startDemo('mcp_demo_wait');
    const file = join(folder, 'calls');
    const controller = new AbortController();
    const called = call('mcp_demo_wait', { file }, { signal: controller.signal });
    called.catch(() => {});
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toBe('called\n'));
    controller.abort(new Error('the person cancelled'));
    await expect(called).rejects.toThrow('the person cancelled');
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toBe('called\ncancelled\n'));
  });

  it('that makes no progress in its time is asked to stop', async () => {
    const { call, folder } = await startDemo('mcp_demo_wait', { timeout: 300 });
    const file = join(folder, 'calls');
    await expect(call('mcp_demo_wait', { file })).rejects.toMatchObject({ code: 'TIMEOUT' });
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toBe('called\ncancelled\n'));
  });

  it('that dies in a call leaves an unknown outcome, and is started again', async () => {
    const { call, names } = await startDemo('mcp_demo_die');
    await expect(call('mcp_demo_die')).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    expect(names()).toContain('mcp_demo_echo');
    // The call waits for the server.
    expect((await call('mcp_demo_echo', { words: 'again' })).data).toBe('again');
  });

  it('is called again after its death where the owner lets it be', async () => {
    const { call, folder } = await startDemo('mcp_demo_die_once');
    const file = join(folder, 'calls');
    expect(await call('mcp_demo_die_once', { file }, { mayRepeat: true })).toMatchObject({
      data: 'alive',
    });
    expect(readFileSync(file, 'utf8')).toBe('called\ncalled\n');
    await expect(call('mcp_demo_die', {}, { mayRepeat: true })).rejects.toMatchObject({
      code: 'UNKNOWN_OUTCOME',
    });
  });

  it('may print what is no message', async () => {
    const { call } = await startDemo('mcp_demo_garbage');
    expect((await call('mcp_demo_garbage')).data).toBe('still here');
    expect((await call('mcp_demo_echo', { words: 'and here' })).data).toBe('and here');
  });

  it('has long results cut, and loses a call whose result is far too long', async () => {
    const { until, call } = await startDemo('mcp_demo_print');
    const { data } = await call('mcp_demo_print', { bytes: 1_000_000 });
    expect(data.length).toBeLessThan(100_000);
    expect(data).toContain('characters of output are left out here');
    await expect(call('mcp_demo_print', { bytes: 20_000_000 })).rejects.toMatchObject({
      code: 'UNKNOWN_OUTCOME',
    });
    await until('mcp_demo_echo');
  });

  it('offers what it learns', async () => {
    const { until, call } = await startDemo('mcp_demo_learn');
    await call('mcp_demo_learn');
    await until('mcp_demo_learned');
  });
});

describe('the list of servers', () => {
  it('is followed while the bridge runs', async () => {
    const { until, list, names } = startServers({ one: FIXTURE });
    await until('mcp_one_echo');
    list({ two: FIXTURE, off: { ...FIXTURE, disabled: true } });
    await until('mcp_two_echo');
    expect(names().some((name) => name.startsWith('mcp_one_'))).toBe(false);
    list({});
    await vi.waitFor(() => expect(names()).toEqual([]));
  });

  it('keeps the good servers beside bad ones', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { until } = startServers({
      'a b': FIXTURE,
      nothing: {},
      missing: { command: '/nonexistent/server' },
      quits: {
        command: process.execPath,
        args: ['-e', 'console.error("no key"); process.exit(1)'],
      },
      good: FIXTURE,
    });
    await until('mcp_good_echo');
    const said = () => log.mock.calls.map(([line]) => String(line)).join('\n');
    await vi.waitFor(() => {
      expect(said()).toContain('Server "a b": a name is 1 to 64 letters');
      expect(said()).toContain('Server nothing: it needs a command');
      expect(said()).toMatch(/MCP server missing is down: .*ENOENT/);
      expect(said()).toMatch(/MCP server quits is down: .*no key/);
    });
  });

  it('ends its servers with the bridge', async () => {
    const { call, end } = await startDemo('mcp_demo_echo');
    const { pid } = JSON.parse((await call('mcp_demo_surroundings')).data);
    expect(isAlive(pid)).toBe(true);
    await end();
    expect(isAlive(pid)).toBe(false);
  });
});
