import { describe, expect, test, vi } from 'vitest';
import { LINK_LIMITS } from '../../../bridge/tunnel/limits.ts';
import { logTo } from '../../../machine/log.ts';
import type { LogEntry } from '../../../machine/log-line.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import {
  Bench,
  command,
  newCall,
  nextResult,
  nextRun,
  type ScriptedRun,
  scriptedTool,
  settle,
  startCall,
} from './session-bench.ts';

keepFoldersInMemory();

describe('calls that come together', () => {
  const write = (contents: string) => newCall('write', { path: 'a.txt', contents });

  test('write one path one after the other, in the order they came', async () => {
    const policyOfFirst = Promise.withResolvers<'allow'>();
    const first = write('one\n');
    const bench = await Bench.start({
      decide: ({ args: { contents } }) => (contents === 'one\n' ? policyOfFirst.promise : 'allow'),
    });
    const second = newCall('str_replace', {
      file_path: 'a.txt',
      old_string: 'one',
      new_string: 'two',
    });
    bench.send(first, second);
    await settle();
    policyOfFirst.resolve('allow');
    expect(await nextResult(bench, second)).toMatchObject({ status: 'success' });
    expect(await bench.place.text('a.txt')).toBe('two\n');
  });

  test('do not wait for one that waits for a person', async () => {
    const first = write('one\n');
    const bench = await Bench.start({
      decide: ({ args: { contents } }) => (contents === 'one\n' ? 'ask' : 'allow'),
    });
    const second = write('two\n');
    bench.send(first, second);
    expect(await nextResult(bench, second)).toMatchObject({ status: 'success' });
    expect(bench.resultsOf(first)).toEqual([]);
  });

  test('read side by side', async () => {
    const { tool, runs } = scriptedTool('look', { effect: 'read' });
    const bench = await Bench.start({ tools: [tool] });
    bench.send(newCall('look'), newCall('look'), newCall('look'));
    await nextRun(runs, 2);
    expect(bench.sent).toEqual([]);
  });
});

describe('a call that cannot run', () => {
  test('is answered with UNKNOWN_TOOL where there is no such tool', async () => {
    const bench = await Bench.start();
    expect(await bench.run(newCall('dance'))).toEqual({
      status: 'error',
      code: 'UNKNOWN_TOOL',
      data: 'This bridge has no tool named "dance".',
    });
  });

  test('is answered with each wrong argument, whatever the edge made of them', async () => {
    const bench = await Bench.start();
    expect(await bench.run(newCall('write', { path: '', contents: 3 }))).toMatchObject({
      status: 'error',
      code: 'INVALID_ARGUMENTS',
      data: expect.stringMatching(/path: .*contents: /),
    });
  });

  test.each<[string, (bench: ScriptedRun) => void]>([
    ['a bug', ({ fail }) => fail(new Error('/home/me/secret.ts is not defined'))],
    ['something that is no error', ({ fail }) => fail(undefined)],
  ])('because of %s in its tool is answered with no more than that', async (_, end) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { bench, call, run } = await startCall();
    end(run);
    expect(await nextResult(bench, call)).toEqual({
      status: 'error',
      code: 'TOOL_FAILED',
      data: "command failed unexpectedly on the developer's machine.",
    });
    expect(log).toHaveBeenCalledOnce();
  });

  test('because of a bug is logged with its ids and place, without its message', async () => {
    const entries: LogEntry[] = [];
    await logTo(
      (entry) => entries.push(entry),
      async () => {
        const { tool, runs } = command();
        const bench = await Bench.start({ tools: [tool] });
        const run = 'chat_00000000-0000-4000-8000-000000000001';
        const call = { ...newCall('command'), run, trace: '4bf92f3577b34da6a3ce929d0e0e4736' };
        bench.send(call);
        (await nextRun(runs)).fail(new TypeError('/home/me/secret.ts is not defined'));
        await nextResult(bench, call);
        const { conversationId: conversation, callId, trace } = call;
        const ids = { conversation, run, call: callId, trace };
        const of = { ...ids, tool: 'command', code: 'TOOL_FAILED' };
        expect(entries).toEqual([
          { event: 'tool_failed', ...of, error: 'TypeError', at: expect.any(Array) },
          { event: 'call_ended', ...of, status: 'error', durationMs: expect.any(Number) },
        ]);
        expect(JSON.stringify(entries)).not.toContain('is not defined');
      },
    );
  });

  test('is answered with the reason where the owner denies it, and nothing is started', async () => {
    const bench = await Bench.start({ decide: () => 'deny' });
    expect(await bench.run(newCall('write', { path: 'a.txt', contents: 'x' }))).toEqual({
      status: 'error',
      code: 'DENIED',
      data: 'Not allowed on this machine: the test says so',
    });
    await expect(bench.place.text('a.txt')).rejects.toThrow('ENOENT');
  });
});

describe('live output', () => {
  const chars = LINK_LIMITS.outputCredit;

  async function startTalking() {
    const { bench, call, run } = await startCall();
    return { bench, call, say: run.context.onOutput };
  }

  test('is sent as it comes', async () => {
    const { bench, call, say } = await startTalking();
    say('hello');
    expect(bench.sent).toEqual([{ type: 'output', callId: call.callId, delta: 'hello' }]);
  });

  test('is dropped without credit, and sent again when there is some', async () => {
    const { bench, say } = await startTalking();
    for (const delta of ['x'.repeat(chars - 2), 'abc', 'de', 'f']) say(delta);
    bench.session.receive({ type: 'credit', chars: 2 });
    for (const delta of ['ghi', 'jk', 'l']) say(delta);
    expect(bench.sent.slice(1)).toMatchObject([{ delta: 'de' }, { delta: 'jk' }]);
  });

  test('has no more credit than one connection gives, whatever the server says', async () => {
    const { bench, say } = await startTalking();
    bench.session.receive({ type: 'credit', chars });
    for (const delta of ['x'.repeat(chars), 'y']) say(delta);
    expect(bench.sent).toHaveLength(1);
  });

  test('is dropped without a connection, and has its full credit on a new one', async () => {
    const { bench, say } = await startTalking();
    say('x'.repeat(chars));
    bench.session.detach();
    say('lost');
    bench.connect();
    say('y'.repeat(chars));
    expect(bench.sent).toHaveLength(1);
  });
});
