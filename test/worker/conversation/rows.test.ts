import { abortAllDurableObjects, env, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { call } from '../api.ts';
import type { SseReader } from '../follow/sse-reader.ts';
import {
  connectBridge,
  connectLookingBridge,
  contextOf,
  NONCE,
} from '../tunnel/scripted-bridge.ts';
import { askStreamed, readResponse, type Streamed } from './conversing.ts';
import { type HeldModel, holdModel, readFile, runCommand, textFrame } from './held-model.ts';

it('rows of a response are few for an answer without tools, and its metadata says how many', async () => {
  const model = holdModel();
  const first = await askStreamed();
  (await model.next()).answer({ text: 'Warm.' });
  await first.reader.toEnd();
  const rows = await countRows(async () => {
    const { reader, responseId } = await askStreamed({ conversationId: first.conversationId });
    const reply = await model.next();
    for (let piece = 0; piece < 50; piece++) reply.send(textFrame(`word ${piece} `));
    reply.answer({ text: 'end' });
    return await sent(reader, responseId);
  });
  expect(rows.written).toBeLessThanOrEqual(budgetOf({ documents: 1, turns: 1, calls: 0 }));
  expect(rows.sent).toBe(rows.written);
});

it('rows of a response count for the first one too, which makes the conversation', async () => {
  const model = holdModel();
  const rows = await countRows(async () => {
    const { reader, responseId } = await askStreamed();
    (await model.next()).answer({ text: 'Hello.' });
    return await sent(reader, responseId);
  });
  expect(rows.written).toBeLessThanOrEqual(budgetOf({ documents: 1, turns: 1, calls: 0 }));
  expect(rows.sent).toBe(rows.written);
});

it('rows of a response are few for each turn and call', async () => {
  const model = holdModel();
  const bridge = await connectBridge();
  const turns = 3;
  const callsOfTurn = 2;
  const calls = (turns - 1) * callsOfTurn;
  const { conversationId } = await converse(model, { bridgeId: bridge.bridgeId });
  const rows = await countRows(async () => {
    const { reader, responseId } = await askStreamed({ conversationId });
    for (let turn = 1; turn < turns; turn++) {
      const asked = Array.from({ length: callsOfTurn }, () => readFile('a'));
      (await model.next()).answer({ calls: asked });
      for (let call = 0; call < callsOfTurn; call++) {
        bridge.succeed((await bridge.nextCall()).callId, 'content');
        await bridge.next('ack');
      }
    }
    (await model.next()).answer({ text: 'Done.' });
    return await sent(reader, responseId);
  });
  expect(rows.written).toBeLessThanOrEqual(budgetOf({ documents: calls + 1, turns, calls }));
  expect(rows.sent).toBe(rows.written);
});

it.each([
  ['are no more for a look at the machine', 'a.ts', 0],
  ['are one more where the machine has changed', 'b.ts', 1],
])('rows of a response %s', async (_, projectLayout, more) => {
  const model = holdModel();
  const bridge = await connectLookingBridge('a.ts');
  const { conversationId } = await converse(model, { bridgeId: bridge.bridgeId });
  bridge.sees = contextOf(projectLayout);
  const rows = await countRows(async () => {
    const { reader, responseId } = await askStreamed({ conversationId });
    (await model.next()).answer({ text: 'Seen.' });
    return await sent(reader, responseId);
  });
  const usual = budgetOf({ documents: 1, turns: 1, calls: 0 });
  expect(rows.written).toBeLessThanOrEqual(usual + more);
  expect(rows.sent).toBe(rows.written);
});

it('rows of a response are few where a person is asked, with those that mark the conversation in its account', async () => {
  const model = holdModel();
  const bridge = await connectBridge();
  const { conversationId } = await converse(model, { bridgeId: bridge.bridgeId });
  const rows = await countRows(async () => {
    const { reader, responseId } = await askStreamed({ conversationId });
    (await model.next()).answer({ calls: [runCommand('ls')] });
    const { callId } = await bridge.nextCall();
    bridge.ask(callId);
    await reader.untilType('approval_request');
    const body = { nonce: NONCE, decision: 'reject' };
    const answered = call(`conversations/${conversationId}/approvals/${callId}`, { body });
    await bridge.next('approval');
    bridge.resolve(callId, { decision: 'reject' });
    await answered;
    await reader.untilType('approval_resolved');
    bridge.finish(callId, { status: 'error', code: 'REJECTED', data: 'no' });
    (await model.next()).answer({ text: 'Then not.' });
    return await sent(reader, responseId);
  });
  const marks = 2; // The account's.
  expect(rows.written).toBeLessThanOrEqual(budgetOf({ documents: 2, turns: 2, calls: 1 }) + marks);
  expect(rows.sent).toBe(rows.written);
});

it('rows of a response are few where the agent asks, with those that mark the conversation in its account', async () => {
  const model = holdModel();
  const { conversationId } = await converse(model, {});
  const rows = await countRows(async () => {
    const { reader, responseId } = await askStreamed({ conversationId });
    const options = ['One', 'Two'].map((label, index) => ({ id: `${index}`, label }));
    const args = { questions: [{ id: 'way', prompt: 'Which?', options }] };
    (await model.next()).answer({ calls: [{ name: 'ask_question', arguments: args }] });
    await reader.untilType('clarification_request');
    const path = `conversations/${conversationId}/clarifications/doc_001`;
    await call(path, { body: { answers: [] } });
    (await model.next()).answer({ text: 'Then both.' });
    return await sent(reader, responseId);
  });
  expect(rows.written).toBeLessThanOrEqual(budgetOf({ documents: 2, turns: 2, calls: 1 }));
  expect(rows.sent).toBe(rows.written);
});

it('rows of a response are counted from what is stored after a crash', async () => {
  const model = holdModel();
  const bridge = await connectBridge();
  const { conversationId } = await converse(model, { bridgeId: bridge.bridgeId });
  const rows = await countRows(async () => {
    const { reader, responseId } = await askStreamed({ conversationId });
    (await model.next()).answer({ calls: [readFile('a')] });
    const { callId } = await bridge.nextCall();
    bridge.succeed(callId, 'content');
    await bridge.next('ack');
    const lost = await model.next();
    lost.send(textFrame('half'));
    await reader.untilText('half');
    await abortAllDurableObjects();
    (await model.next()).answer({ text: 'Done.' });
    return await sent(reader, responseId);
  });
  expect(rows.sent).toBeLessThanOrEqual(rows.written);
  expect(rows.sent).toBeGreaterThanOrEqual(rows.written - 3);
});

it('rows of a response are counted after a crash without those of the answer that it waited for', async () => {
  const model = holdModel();
  const bridge = await connectBridge();
  const { conversationId } = await converse(model, { bridgeId: bridge.bridgeId });
  const first = await askStreamed({ conversationId });
  const next = await askStreamed({ conversationId });
  for (let turn = 1; turn <= 5; turn++) {
    (await model.next()).answer({ calls: [readFile('a')] });
    bridge.succeed((await bridge.nextCall()).callId, 'content');
    await bridge.next('ack');
  }
  (await model.next()).answer({ text: 'Done.' });
  await first.reader.toEnd();
  const rows = await countRows(async () => {
    await next.reader.untilType('response_start');
    await model.next();
    await abortAllDurableObjects();
    (await model.next()).answer({ text: 'Done too.' });
    return await sent(next.reader, next.responseId);
  });
  // What was written before the crash: its start, on the tape and in its row, perhaps an alarm.
  expect(rows.sent).toBeLessThanOrEqual(rows.written + 3);
});

it('rows of a response are counted after a crash with the messages that steered it', async () => {
  const model = holdModel();
  const { conversationId } = await converse(model, {});
  const steers = 4;
  const rows = await countRows(async () => {
    const { reader, responseId } = await askStreamed({ conversationId });
    await model.next();
    for (let steer = 1; steer <= steers; steer++) {
      const steering = await askStreamed({ conversationId, delivery: 'steer' });
      await steering.reader.leave();
    }
    await abortAllDurableObjects();
    const ended = sent(reader, responseId);
    (await model.next()).answer({ text: 'Done.' });
    return await ended;
  });
  expect(rows.sent).toBeLessThanOrEqual(rows.written);
  expect(rows.sent).toBeGreaterThanOrEqual(rows.written - 3);
});

/** DESIGN's budget: an answer of a test takes no time. */
function budgetOf(work: { documents: number; turns: number; calls: number }): number {
  return 6 + work.documents + 4 * work.turns + 5 * work.calls;
}

/** Has the conversation listed, and its object running: what only a first answer writes is not counted. */
async function converse(model: HeldModel, more: Record<string, unknown>): Promise<Streamed> {
  const streamed = await askStreamed(more);
  (await model.next()).answer({ text: 'Warm.' });
  await streamed.reader.toEnd();
  return streamed;
}

/** What the response says of itself once it has finished. */
async function sent(reader: SseReader, responseId: string): Promise<number | undefined> {
  await reader.toEnd();
  const { metadata } = await readResponse(responseId);
  return metadata.rows;
}

/** Once for an object, not for a response. */
const MAKES_TABLES = /^\s*(?:create|alter)\b|\bschema_version\b/;

/** Rows written by every object meanwhile, and what the work returns; an alarm that is set counts as one. */
async function countRows<T>(work: () => Promise<T>): Promise<{ written: number; sent: T }> {
  let written = 0;
  const any = env.CONVERSATIONS.get(env.CONVERSATIONS.newUniqueId());
  const alarms = await runInDurableObject(any, (_, { storage }) => {
    const sql: SqlStorage = Object.getPrototypeOf(storage.sql);
    const exec = sql.exec;
    vi.spyOn(sql, 'exec').mockImplementation(function (this: SqlStorage, ...parameters) {
      const cursor = Reflect.apply(exec, this, parameters);
      if (!MAKES_TABLES.test(String(parameters[0]))) written += cursor.rowsWritten;
      return cursor;
    });
    return vi.spyOn(Object.getPrototypeOf(storage) as DurableObjectStorage, 'setAlarm');
  });
  const sent = await work();
  return { written: written + alarms.mock.calls.length, sent };
}
