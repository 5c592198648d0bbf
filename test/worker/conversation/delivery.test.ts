import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ConversationView } from '../../../shared/documents.ts';
import { ask, call, errorOf } from '../api.ts';
import { textOf } from '../follow/sse-reader.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { askStreamed, cancel, readResponse } from './conversing.ts';
import { holdModel, readFile, runCommand, textFrame } from './held-model.ts';

afterEach(() => vi.restoreAllMocks());

describe('a message for a busy conversation', () => {
  it('waits for its turn, and sees what was answered before', async () => {
    const model = holdModel();
    const first = await askStreamed();
    const reply = await model.next();
    const second = await askStreamed({ conversationId: first.conversationId });
    const third = await askStreamed({ conversationId: first.conversationId });
    expect(await readResponse(second.responseId)).toMatchObject({ status: 'queued' });
    expect(model.count).toBe(1);
    reply.answer({ text: 'One.' });
    const next = await model.next();
    expect(next.request.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
    next.answer({ text: 'Two.' });
    (await model.next()).answer({ text: 'Three.' });
    for (const [{ reader }, text] of [
      [first, 'One.'],
      [second, 'Two.'],
      [third, 'Three.'],
    ] as const) {
      expect(textOf(await reader.toEnd())).toBe(text);
    }
  });

  it('is refused when it must not wait, and leaves no trace', async () => {
    const model = holdModel();
    const { reader, conversationId } = await askStreamed();
    const reply = await model.next();
    const refused = await ask('now', { conversationId, delivery: 'reject' });
    expect(await errorOf(refused)).toMatchObject({ status: 409, code: 'CONVERSATION_BUSY' });
    reply.answer({ text: 'One.' });
    await reader.toEnd();
    const view: ConversationView = await (await call(`conversations/${conversationId}`)).json();
    expect(view.messages).toHaveLength(1);
    const accepted = await askStreamed({ conversationId, delivery: 'reject' });
    (await model.next()).answer({ text: 'Two.' });
    await accepted.reader.toEnd();
  });

  it('starts once when two are sent at the same time', async () => {
    const model = holdModel();
    const { reader, conversationId } = await askStreamed();
    (await model.next()).answer({ text: 'One.' });
    await reader.toEnd();
    const both = await Promise.all([
      askStreamed({ conversationId }),
      askStreamed({ conversationId }),
    ]);
    (await model.next()).answer({ text: 'Two.' });
    (await model.next()).answer({ text: 'Three.' });
    const texts = await Promise.all(both.map(async (one) => textOf(await one.reader.toEnd())));
    expect(texts.sort()).toEqual(['Three.', 'Two.']);
    expect(model.count).toBe(3);
  });
});

describe('a cancel', () => {
  it('ends a running answer for everyone, gives the request up and starts what waits', async () => {
    const model = holdModel();
    const { reader, responseId, conversationId } = await askStreamed();
    const reply = await model.next();
    reply.send(textFrame('Beginning'));
    await reader.untilText('Beginning');
    const waiting = await askStreamed({ conversationId });
    expect(await cancel(responseId)).toEqual({ id: responseId, status: 'cancelled' });
    await reply.untilAborted();
    expect((await reader.toEnd()).at(-1)?.event).toMatchObject({ status: 'cancelled' });
    expect(await cancel(responseId)).toEqual({ id: responseId, status: 'cancelled' });
    (await model.next()).answer({ text: 'Next.' });
    expect(textOf(await waiting.reader.toEnd())).toBe('Next.');
    const { status, documents } = await readResponse(responseId);
    expect({ status, content: documents.map(({ content }) => content) }).toEqual({
      status: 'cancelled',
      content: ['Beginning'],
    });
  });

  it('ends a message that waits, before it starts', async () => {
    const model = holdModel();
    const { reader, conversationId } = await askStreamed();
    const reply = await model.next();
    const waiting = await askStreamed({ conversationId });
    const asJson = ask('json', { conversationId });
    await waiting.reader.untilType('message');
    expect(await cancel(waiting.responseId)).toMatchObject({ status: 'cancelled' });
    const events = await waiting.reader.toEnd();
    expect(events.map(({ event }) => event.type)).toEqual(['message', 'done']);
    expect(await readResponse(waiting.responseId)).toMatchObject({
      status: 'cancelled',
      documents: [],
    });
    reply.answer({ text: 'One.' });
    (await model.next()).answer({ text: 'Json.' });
    expect(await (await asJson).json()).toMatchObject({ documents: [{ content: 'Json.' }] });
    await reader.toEnd();
    expect(model.count).toBe(2);
  });

  it('ends calls at the bridge, closes their documents and ignores what still comes of them', async () => {
    const model = holdModel();
    const bridge = await connectBridge();
    const { reader, responseId, conversationId } = await askStreamed({
      bridgeId: bridge.bridgeId,
    });
    (await model.next()).answer({ calls: [runCommand('sleep 9'), readFile('a')] });
    const command = await bridge.nextCall();
    const read = await bridge.nextCall();
    bridge.succeed(read.callId, 'content');
    await reader.until((events) => events.some(({ event }) => event.type === 'tool_result'));
    expect(await cancel(responseId)).toMatchObject({ status: 'cancelled' });
    expect((await bridge.next('cancel')).callId).toBe(command.callId);
    const events = await reader.toEnd();
    expect(events.at(-1)?.event.type).toBe('done');
    bridge.send({ type: 'output', callId: command.callId, delta: 'late' });
    bridge.finish(command.callId, { status: 'error', code: 'CANCELLED', data: 'Cancelled.' });
    while ((await bridge.next('ack')).callId !== command.callId);
    const after = await readResponse(responseId);
    expect(after.documents.map(({ type }) => type)).toEqual(['terminal_command', 'tool_call']);
    expect(after.documents[0]?.metadata).toMatchObject({
      output: '',
      result: { status: 'error', data: 'Cancelled by the user.' },
    });

    const next = await askStreamed({ conversationId });
    const { request } = await model.next().then((reply) => {
      reply.answer({ text: 'ok' });
      return reply;
    });
    const results = request.messages.filter(({ role }) => role === 'tool');
    expect(results.map(({ content }) => content)).toEqual([
      expect.stringContaining('CANCELLED'),
      'content',
    ]);
    await next.reader.toEnd();
  });

  it('of an unknown response is a 404', async () => {
    const model = holdModel();
    const { reader, responseId } = await askStreamed();
    (await model.next()).answer({ text: 'One.' });
    await reader.toEnd();
    const unknown = `${responseId.slice(0, -4)}00ff`;
    const response = await call(`chat/completions/${unknown}/cancel`, { method: 'POST' });
    expect(await errorOf(response)).toMatchObject({ status: 404 });
    expect(await cancel(responseId)).toEqual({ id: responseId, status: 'completed' });
  });
});
