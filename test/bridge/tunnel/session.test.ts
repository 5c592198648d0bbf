import { describe, expect, test, vi } from 'vitest';
import { RUN_LIMITS, TUNNEL_LIMITS } from '../../../shared/limits.ts';
import type { Decision } from '../../../shared/wire/policy.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import {
  Bench,
  command,
  DONE,
  newCall,
  nextResult,
  nextRun,
  scriptedTool,
  settle,
  startCall,
  type ToolTraits,
  UNKNOWN,
} from './session-bench.ts';

keepFoldersInMemory();

describe('a call that is delivered', () => {
  test('for the first time is run, and its result is sent with its duration', async () => {
    const { bench, call, run } = await startCall();
    run.end({ ...DONE, metadata: { exitCode: 0 } });
    await nextResult(bench, call);
    const metadata = { duration_ms: expect.any(Number), exitCode: 0 };
    expect(bench.sent).toEqual([
      { type: 'result', callId: call.callId, result: { ...DONE, metadata } },
    ]);
  });

  test('again while it runs goes on, also over connections', async () => {
    const { tool, runs } = command();
    const bench = await Bench.start({ tools: [tool] });
    const call = newCall('command');
    bench.send(call, call);
    await nextRun(runs);
    bench.send(call);
    bench.session.detach();
    bench.connect({ calls: [call] });
    await settle();
    expect(runs).toHaveLength(1);
    runs[0]?.end(DONE);
    expect(await nextResult(bench, call)).toEqual(DONE);
    expect(bench.sent).toHaveLength(1);
  });

  test('again when it is finished is answered from the journal', async () => {
    const { bench, call, runs, run } = await startCall();
    run.end(DONE);
    await nextResult(bench, call);
    bench.send(call, call);
    expect([bench.resultsOf(call), runs.length]).toEqual([[DONE, DONE, DONE], 1]);
  });

  test('again after a restart, when it was finished, is answered from the journal', async () => {
    const { bench, call, runs, run } = await startCall();
    run.end(DONE);
    await nextResult(bench, call);
    bench.restart();
    bench.connect({ calls: [call] });
    expect([bench.resultsOf(call), runs.length]).toEqual([[DONE], 1]);
  });

  test.each([
    ['read', false],
    ['write', true],
  ] as const)(
    'again after a restart, with effect %s, idempotent %j, runs again',
    async (effect, idempotent) => {
      const { bench, call, runs } = await startCall(scriptedTool('tool', { effect, idempotent }));
      bench.restart();
      bench.connect({ calls: [call] });
      (await nextRun(runs, 1)).end(DONE);
      expect(await nextResult(bench, call)).toEqual(DONE);
    },
  );

  test.each([
    ['write', false],
    ['execute', false],
  ] as const)(
    'again after a restart, with effect %s, idempotent %j, has an unknown outcome',
    async (effect, idempotent) => {
      const { bench, call, runs } = await startCall(scriptedTool('tool', { effect, idempotent }));
      bench.restart();
      bench.connect({ calls: [call] });
      await settle();
      bench.connect({ calls: [call] });
      expect([bench.resultsOf(call), runs.length]).toEqual([[UNKNOWN], 1]);
    },
  );
});

describe('a result', () => {
  test('without an ack is sent again with each welcome', async () => {
    const { bench, call, runs } = await startCall();
    bench.session.detach();
    runs[0]?.end(DONE);
    await vi.waitUntil(() => bench.journal.lookup(call.callId).state === 'finished');
    const heard = [];
    for (let count = 0; count < 2; count++) {
      bench.connect({ calls: [call] });
      heard.push(bench.resultsOf(call));
    }
    expect([heard, bench.journal.calls]).toEqual([[[DONE], [DONE]], [call.callId]]);
    bench.session.receive({ type: 'ack', callId: call.callId });
    expect(bench.journal.calls).toEqual([]);
  });

  test('may be acked twice, and so may an unknown call', async () => {
    const bench = await Bench.start();
    for (const _ of [1, 2]) bench.session.receive({ type: 'ack', callId: newCall('x').callId });
    expect(bench.sent).toEqual([]);
  });

  test('that would burst a frame loses its metadata and its length, not its status', async () => {
    const { bench, call, run } = await startCall();
    const data = '\u0001'.repeat(TUNNEL_LIMITS.maxFrameBytes / 6);
    run.end({ status: 'error', code: 'X', data, metadata: { diff: data } });
    const cut = data.slice(0, RUN_LIMITS.maxResultChars);
    expect(await nextResult(bench, call)).toEqual({ status: 'error', code: 'X', data: cut });
    expect(JSON.stringify(bench.sent[0]).length).toBeLessThan(TUNNEL_LIMITS.maxFrameBytes);
  });
});

describe('a journal that cannot be written', () => {
  /** The lines of the machine's log. */
  function watchLog(): () => string[] {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    return () => log.mock.calls.map((said) => said.join(' '));
  }
  const REFUSED = { status: 'error', code: 'STATE_UNWRITABLE', data: expect.any(String) };

  test.each<[string, ToolTraits, Decision]>([
    ['changes something', { effect: 'execute' }, 'allow'],
    ['a person must allow', { effect: 'read' }, 'ask'],
  ])('starts no call that %s, and says so once', async (_, traits, decision) => {
    const said = watchLog();
    const { tool, runs } = scriptedTool('tool', traits);
    const bench = await Bench.start({ tools: [tool], decide: () => decision });
    bench.journal[Symbol.dispose]();
    const calls = [newCall('tool'), newCall('tool')];
    bench.send(...calls);
    for (const call of calls) expect(await nextResult(bench, call)).toEqual(REFUSED);
    expect(JSON.stringify(bench.sent)).not.toContain(bench.place.root);
    expect([runs.length, said()]).toEqual([0, [expect.stringContaining('cannot be written')]]);
  });

  test.each<[string, ToolTraits]>([
    ['reads', { effect: 'read' }],
    ['may run twice', { effect: 'write', idempotent: true }],
  ])('lets a call go on that %s', async (_, traits) => {
    const said = watchLog();
    const { tool, runs } = scriptedTool('tool', traits);
    const bench = await Bench.start({ tools: [tool] });
    bench.journal[Symbol.dispose]();
    const call = newCall('tool');
    bench.send(call);
    (await nextRun(runs)).end(DONE);
    expect(await nextResult(bench, call)).toEqual(DONE);
    bench.send(call);
    expect([bench.resultsOf(call), said().length]).toEqual([[DONE, DONE], 1]);
  });

  test('loses neither the result of a running call nor the bridge over its ack', async () => {
    const said = watchLog();
    const { bench, call, runs } = await startCall();
    bench.journal[Symbol.dispose]();
    runs[0]?.end(DONE);
    expect(await nextResult(bench, call)).toEqual(DONE);
    bench.send(call);
    expect(bench.resultsOf(call)).toEqual([DONE, DONE]);
    bench.session.receive({ type: 'ack', callId: call.callId });
    expect([bench.journal.calls, said().length]).toEqual([[], 1]);
  });
});

describe('the end of the process', () => {
  test('ends what runs, and is over when that is', async () => {
    const { bench, call } = await startCall();
    await bench.session.end();
    expect(bench.journal.lookup(call.callId)).toMatchObject({
      state: 'finished',
      result: { status: 'error', code: 'CANCELLED' },
    });
  });

  test('leaves an edit that it has started to the next process, which looks at its file', async () => {
    const change = { beforeHash: 'before', afterHash: null, result: DONE };
    const traits = { effect: 'write', lane: 'a', change } as const;
    const { bench, call, runs } = await startCall(scriptedTool('edit', traits));
    await bench.session.end();
    expect(bench.journal.lookup(call.callId).state).toBe('running');
    bench.restart();
    bench.connect({ calls: [call] });
    expect(await nextResult(bench, call)).toEqual(DONE);
    expect(runs).toHaveLength(1);
  });

  test('leaves a call that waits for a person, its lane or the policy to the next process', async () => {
    const { tool, runs } = scriptedTool('edit', { effect: 'write', lane: 'a' });
    const other = scriptedTool('other', { effect: 'write' });
    const bench = await Bench.start({
      tools: [tool, other.tool],
      decide: async ({ args: { verdict } }) => {
        await settle();
        return verdict === 'ask' ? 'ask' : 'allow';
      },
    });
    const calls = [newCall('edit'), newCall('edit'), newCall('other', { verdict: 'ask' })];
    bench.send(...calls);
    await nextRun(runs);
    await vi.waitUntil(() => bench.sent.length === 1);
    const question = bench.sent.find((frame) => frame.type === 'approval_request');
    const late = newCall('edit');
    bench.send(late);
    await bench.session.end();
    expect(bench.journal.calls).toEqual([calls[0]?.callId, calls[2]?.callId]);
    bench.restart();
    bench.connect({ calls: [...calls, late] });
    (await nextRun(runs, 1)).end(DONE);
    (await nextRun(runs, 2)).end(DONE);
    expect(await nextResult(bench, late)).toEqual(DONE);
    expect(bench.sent).toContainEqual({
      type: 'approval_request',
      callId: calls[2]?.callId,
      nonce: question?.nonce,
      proposal: question?.proposal,
      reason: 'the test says so',
    });
  });
});
