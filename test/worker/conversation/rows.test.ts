import { env, runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, it, vi } from 'vitest';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { askStreamed } from './conversing.ts';
import { holdModel, readFile, textFrame } from './held-model.ts';

afterEach(() => vi.restoreAllMocks());

// The budget of a response: 6 + seconds/2 + documents + 4 x turns + 5 x calls.
it('writes few rows for an answer without tools', async () => {
  const model = holdModel();
  const first = await askStreamed();
  (await model.next()).answer({ text: 'Warm.' });
  await first.reader.toEnd();
  const rows = await countRows(async () => {
    const { reader } = await askStreamed({ conversationId: first.conversationId });
    const reply = await model.next();
    for (let piece = 0; piece < 50; piece++) reply.send(textFrame(`word ${piece} `));
    reply.answer({ text: 'end' });
    await reader.toEnd();
  });
  expect(rows).toBeGreaterThan(0);
  expect(rows).toBeLessThanOrEqual(6 + 1 + 4);
});

it('writes few rows for each turn and call', async () => {
  const model = holdModel();
  const bridge = await connectBridge();
  const turns = 3;
  const calls = 2;
  const rows = await countRows(async () => {
    const { reader } = await askStreamed({ bridgeId: bridge.bridgeId });
    for (let turn = 1; turn < turns; turn++) {
      (await model.next()).answer({ calls: Array.from({ length: calls }, () => readFile('a')) });
      for (let call = 0; call < calls; call++) {
        bridge.succeed((await bridge.nextCall()).callId, 'content');
        await bridge.next('ack');
      }
    }
    (await model.next()).answer({ text: 'Done.' });
    await reader.toEnd();
  });
  const documents = (turns - 1) * calls + 1;
  const budget = 6 + documents + 4 * turns + 5 * (turns - 1) * calls;
  expect(rows).toBeLessThanOrEqual(budget);
});

/** Rows written by every object meanwhile; an alarm that is set counts as one. */
async function countRows(work: () => Promise<void>): Promise<number> {
  const cursors: { readonly rowsWritten: number }[] = [];
  const any = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  const alarms = await runInDurableObject(any, (_, { storage }) => {
    const sql: SqlStorage = Object.getPrototypeOf(storage.sql);
    const exec = sql.exec;
    vi.spyOn(sql, 'exec').mockImplementation(function (this: SqlStorage, ...parameters) {
      const cursor = Reflect.apply(exec, this, parameters);
      cursors.push(cursor);
      return cursor;
    });
    return vi.spyOn(Object.getPrototypeOf(storage) as DurableObjectStorage, 'setAlarm');
  });
  await work();
  const written = cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
  return written + alarms.mock.calls.length;
}
