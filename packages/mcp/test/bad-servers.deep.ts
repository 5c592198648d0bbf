import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import type { Offering } from './offering.ts';

/** A server that answers nothing is given up soon here. */
vi.mock('../limits.ts', async (importOriginal) => {
  const { MCP_LIMITS } = await importOriginal<typeof import('../limits.ts')>();
  return { MCP_LIMITS: { ...MCP_LIMITS, connectMs: 3_000, probeMs: 500 } };
});

// Another file of this worker may have loaded the modules with the real limits.
vi.resetModules();
const { FIXTURE, startServers } = await import('./offering.ts');

let log: MockInstance<typeof console.error>;
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {});
});

const said = () => log.mock.calls.map(([line]) => String(line)).join('\n');

function bad(behaviour: string, ...args: string[]) {
  const script = join(import.meta.dirname, '../../../test/far-ends/bad-mcp-server.ts');
  return { command: process.execPath, args: [script, behaviour, ...args] };
}

/** The bad server beside a good one, which must not suffer. */
async function beside(behaviour: string, ...args: string[]): Promise<Offering> {
  const offering = startServers({ bad: bad(behaviour, ...args), good: FIXTURE });
  await offering.until('mcp_good_echo');
  return offering;
}

async function expectGood({ call }: Offering): Promise<void> {
  expect((await call('mcp_good_echo', { words: 'well' })).data).toBe('well');
}

describe('a bad MCP server', () => {
  it.each([
    ['babbles', /bad is down: .*no message/],
    ['mute', /bad is down: .*timed out/],
  ])('that %s is given up with the reason', async (behaviour, reason) => {
    const offering = await beside(behaviour);
    await vi.waitFor(() => expect(said()).toMatch(reason), 30_000);
    await expectGood(offering);
  });

  it('that never ends by itself is ended, even while it is started', async () => {
    const { end } = startServers({ mute: bad('mute'), deaf: bad('deaf', '/dev/null') });
    await end();
  });

  it('offers as many tools as the edge takes, however many it lists', async () => {
    const offering = await beside('many');
    await offering.until('mcp_bad_t0_0');
    const { offers = [], unavailable = [] } = offering.offers.set(() => false) ?? {};
    expect(offers).toHaveLength(104);
    expect(unavailable).toHaveLength(128);
    expect(unavailable[0]?.reason).toContain('list fewer');
    expect(said()).toMatch(/bad has 500 tools, and \d+ of them are not offered: a model takes 128/);
    const [bad, good] = offering.reports();
    expect(bad).toMatchObject({ toolCount: 500, cutCount: expect.any(Number) });
    expect(good?.cutCount).toBe(undefined);
  });

  it.each(['itself', 'pair', 'doubling'])(
    'with a schema that leads in circles (%s) gets no call',
    async (name) => {
      const offering = await beside('schemas');
      await offering.until(`mcp_bad_${name}`);
      await expect(offering.call(`mcp_bad_${name}`)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENTS',
        message: expect.stringContaining('JSON Schema'),
      });
      await expectGood(offering);
    },
  );

  it('with a schema that is slow to check does not stop the bridge', async () => {
    const offering = await beside('schemas');
    await offering.until('mcp_bad_slow_pattern');
    const word = `${'a'.repeat(50)}!`;
    expect(await offering.call('mcp_bad_slow_pattern', { word })).toMatchObject({ data: 'ok' });
    await expectGood(offering);
  });

  it('with a schema for trees is called with trees', async () => {
    const offering = await beside('schemas');
    await offering.until('mcp_bad_tree');
    const tree = { children: [{ children: [] }, { children: [{}] }] };
    expect(await offering.call('mcp_bad_tree', tree)).toMatchObject({ data: 'ok' });
    await expect(offering.call('mcp_bad_tree', { children: [7] })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
    });
  });

  it('with a schema that nests too deeply keeps its other tools', async () => {
    const offering = await beside('schemas');
    await offering.until('mcp_bad_tree');
    expect(offering.names()).not.toContain('mcp_bad_deep');
    expect(said()).toContain('deep cannot be offered');
  });

  it('with a tool that runs only as a task keeps its other tools', async () => {
    const offering = await beside('tasks');
    await offering.until('mcp_bad_both');
    expect(offering.names()).not.toContain('mcp_bad_background');
    expect(said()).toContain('background cannot be offered: it runs only as a task');
  });

  it('that gives orders in a description is shown as its own words', async () => {
    const offering = await beside('orders');
    await offering.until('mcp_bad_nice');
    const offer = offering.offers.set(() => true)?.offers.find(({ name }) => name.includes('nice'));
    expect(offer?.description).toMatch(
      /^A tool of the MCP server "bad", which describes it so: IMPORTANT/,
    );
  });

  it('that says again and again that its tools changed is listed a few times', async () => {
    const folder = startServers({}).folder;
    const file = join(folder, 'lists');
    const offering = await beside('changes', file);
    await offering.until('mcp_bad_same');
    const digest = () => offering.offers.set(() => true)?.digest;
    const before = digest();
    for (let index = 0; index < 5; index++) await offering.call('mcp_bad_same');
    await vi.waitFor(() => expect(digest()).not.toBe(before));
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(10);
  });

  it('that returns 50 MB loses the call, and is started again', async () => {
    const offering = await beside('huge');
    await offering.until('mcp_bad_go');
    await expect(offering.call('mcp_bad_go')).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    await expectGood(offering);
    await vi.waitFor(() => expect(said()).toMatch(/bad is down: .*longer than/));
    await offering.until('mcp_bad_still');
  });

  it('that floods progress is heard some times a second', async () => {
    const offering = await beside('progress');
    await offering.until('mcp_bad_go');
    let lines = 0;
    const onOutput = () => {
      lines += 1;
    };
    expect((await offering.call('mcp_bad_go', {}, { onOutput })).data).toBe('done');
    expect(lines).toBeLessThan(200);
  });

  it('that ignores a cancel, and its end, goes with its process', async () => {
    const { folder } = startServers({});
    const file = join(folder, 'calls');
    const offering = await beside('deaf', file);
    await offering.until('mcp_bad_go');
    const controller = new AbortController();
    const called = offering.call('mcp_bad_go', {}, { signal: controller.signal });
    called.catch(() => {});
    await vi.waitFor(() => expect(existsSync(file)).toBe(true));
    controller.abort(new Error('enough'));
    await expect(called).rejects.toThrow('enough');
    expect((await offering.call('mcp_bad_still')).data).toBe('still here');
    offering.list({ good: FIXTURE });
    await vi.waitFor(() => expect(offering.names()).not.toContain('mcp_bad_go'), 15_000);
  });

  it('that throws at its start is reported with its error, not with its last line', async () => {
    const throws = ['-e', "throw new Error('no key is set')"];
    startServers({ bad: { command: process.execPath, args: throws } });
    await vi.waitFor(() => expect(said()).toMatch(/bad is down: .*Error: no key is set/));
  });

  it('that complains for megabytes is kept to its last words', async () => {
    const offering = await beside('complains');
    await offering.until('mcp_bad_go');
    expect((await offering.call('mcp_bad_go')).data).toBe('ok');
    expect(said().length).toBeLessThan(10_000);
  });

  it('that wants to use the person’s model is refused with the reason', async () => {
    const offering = await beside('samples');
    await offering.until('mcp_bad_go');
    const { data } = await offering.call('mcp_bad_go');
    expect(data).toContain('error');
    expect(data).toContain('does not let servers use its model');
  });
});
