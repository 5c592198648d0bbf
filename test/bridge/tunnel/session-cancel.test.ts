import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { keepFoldersInMemory } from '../../in-memory.ts';
import {
  Bench,
  CANCELLED,
  command,
  DONE,
  newCall,
  nextResult,
  nextRun,
  scriptedTool,
  settle,
  startCall,
  UNKNOWN,
} from './session-bench.ts';

keepFoldersInMemory();

describe('a cancel', () => {
  test('before its call answers it, and the call never runs', async () => {
    const { tool, runs } = command();
    const bench = await Bench.start({ tools: [tool] });
    const call = newCall('command');
    bench.session.receive({ type: 'cancel', callId: call.callId });
    bench.send(call);
    await settle();
    expect([bench.resultsOf(call), runs.length]).toEqual([[CANCELLED, CANCELLED], 0]);
  });

  test('while its call runs ends it', async () => {
    const { bench, call, runs } = await startCall();
    bench.session.receive({ type: 'cancel', callId: call.callId });
    bench.session.receive({ type: 'cancel', callId: call.callId });
    expect(await nextResult(bench, call)).toEqual(CANCELLED);
    expect(runs[0]?.context.signal.aborted).toBe(true);
  });

  test('while its call waits for its lane keeps it from running, and not those behind it', async () => {
    const { tool, runs } = scriptedTool('edit', { effect: 'write', lane: 'a' });
    const bench = await Bench.start({ tools: [tool] });
    const [first, second, third] = [newCall('edit'), newCall('edit'), newCall('edit')];
    bench.send(first, second, third);
    await nextRun(runs);
    bench.session.receive({ type: 'cancel', callId: second.callId });
    runs[0]?.end(DONE);
    expect(await nextResult(bench, second)).toEqual(CANCELLED);
    (await nextRun(runs, 1)).end(DONE);
    expect(await nextResult(bench, third)).toEqual(DONE);
  });

  test('after the end of its call is answered with the result that it had', async () => {
    const { bench, call, run } = await startCall();
    run.end(DONE);
    await nextResult(bench, call);
    bench.session.receive({ type: 'cancel', callId: call.callId });
    expect(bench.resultsOf(call)).toEqual([DONE, DONE]);
  });

  test('after a restore from a backup does not say that its call had no effect', async () => {
    const { tool, runs } = command();
    const bench = await Bench.start({ tools: [tool], decide: () => 'ask' });
    const asked = newCall('command');
    await bench.ask(asked);
    writeFileSync(join(bench.place.root, '..', 'journal.jsonl.restored'), '');
    bench.restart();
    expect(bench.journal.wasRestored).toBe(true);
    const unknown = newCall('command'); // Sent after the backup.
    bench.connect({ cancels: [asked.callId, unknown.callId] });
    bench.send(asked, unknown);
    await settle();
    expect([asked, unknown].map((call) => bench.resultsOf(call)[0])).toEqual([UNKNOWN, UNKNOWN]);
    expect(runs).toEqual([]);
    bench.journal.settleRestore();
    bench.restart();
    expect(bench.journal.wasRestored).toBe(false);
  });

  test('while a person is asked takes the question back', async () => {
    const bench = await Bench.start({ decide: () => 'ask' });
    const call = newCall('list_dir', { target_directory: '.' });
    bench.send(call);
    await vi.waitUntil(() => bench.sent.length > 0);
    bench.session.receive({ type: 'cancel', callId: call.callId });
    expect(await nextResult(bench, call)).toEqual(CANCELLED);
    expect(bench.sent.slice(0, 2)).toMatchObject([
      { type: 'approval_request' },
      { type: 'approval_resolved', decision: 'expired', by: 'drawbridge' },
    ]);
  });

  test('in a welcome, of a call that an earlier process began, does not claim to know what it did', async () => {
    const { bench, call } = await startCall();
    bench.restart();
    bench.connect({ cancels: [call.callId] });
    expect(bench.resultsOf(call)).toEqual([UNKNOWN]);
  });
});
