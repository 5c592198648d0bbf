import { abortAllDurableObjects } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { ConversationView } from '../../../shared/wire/documents.ts';
import { foldConversation } from '../../../shared/wire/fold.ts';
import { TunnelHands } from '../../../worker/conversation/calls/hands.ts';
import { Deadlines } from '../../../worker/conversation/deadlines.ts';
import type { ScriptedRequest } from '../../far-ends/reply-script.ts';
import { ask, call, errorOf, scriptModel } from '../api.ts';
import { SseReader, textOf } from '../follow/sse-reader.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import {
  alarmOf,
  askAtBridge,
  askHeld,
  askStreamed,
  cancel,
  readResponse,
  readView,
  startAnswer,
} from './conversing.ts';
import { endFrames, holdModel, readFile, runCommand, textFrame } from './held-model.ts';

it('takes no more messages that steer than can wait', async () => {
  const { model, conversationId, responseId, reader } = await askHeld();
  await model.next();
  const steering = { conversationId, delivery: 'steer' };
  const steers = await Promise.all(
    Array.from({ length: RUN_LIMITS.maxWaiting }, () => askStreamed(steering)),
  );
  expect(new Set(steers.map((steer) => steer.responseId))).toEqual(new Set([responseId]));
  expect(await errorOf(await ask('one more', steering))).toMatchObject({
    status: 409,
    code: 'CONVERSATION_BUSY',
  });
  await call(`conversations/${conversationId}`, { method: 'DELETE' });
  await reader.toEnd().catch(() => undefined);
});

it.each<[string, object]>([
  ['mode', { mode: 'ask' }],
  ['tools', { tools: ['read_file'] }],
  ['model', { model: 'other' }],
  ['context', { context: { rules: ['Never delete.'] } }],
  ['include', { include: ['reasoning'] }],
  ['messages', { messages: ['system', 'user'].map((role) => ({ role, content: 'on' })) }],
])(
  'a message that steers takes no %s, which the current run would not keep to',
  async (path, fields) => {
    const { model, reader, conversationId, reply } = await startAnswer();
    const steering = { conversationId, delivery: 'steer', ...fields };
    expect(await errorOf(await ask('on', steering))).toMatchObject({
      status: 400,
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(`${path}: `),
      details: { issues: [{ path }] },
    });
    reply.answer({ text: 'Done.' });
    await reader.toEnd();
    const response = await ask('on', { ...steering, stream: true });
    expect(response.status).toBe(200); // Nothing is running: it begins a run of its own, which keeps to them.
    (await model.next()).answer({ text: 'Done.' });
    await new SseReader(response).toEnd();
  },
);

it('a message that steers is sent to the model before its next request, and the stream says where', async () => {
  const { model, bridge, reader, responseId, conversationId } = await askAtBridge();
  (await model.next()).answer({ calls: [readFile('a')] });
  const { callId } = await bridge.nextCall();
  const steering = await askStreamed({ conversationId, delivery: 'steer', device: 'phone' });
  expect(steering.responseId).toBe(responseId);
  bridge.succeed(callId, 'content');
  const next = await model.next();
  expect(lastOf(next.request)).toEqual([
    ['tool', 'content'],
    ['user', expect.stringContaining('go')],
  ]);
  next.answer({ text: 'I see.' });
  const types = (await reader.toEnd()).map(({ event }) => event.type);
  expect(types.filter((type) => type === 'message')).toHaveLength(2);
  expect(types.indexOf('steered')).toBeGreaterThan(types.lastIndexOf('tool_result'));
  await steering.reader.toEnd();
  const view = await readView(conversationId);
  expect(view.responses).toHaveLength(1);
  expect(view.messages[1]).toMatchObject({
    responseId,
    device: 'phone',
    steers: true,
    afterSequence: 1,
  });
});

it('a message that steers a run that has just ended is answered with the settings of that run', async () => {
  const model = holdModel();
  const settings = { mode: 'ask', model: 'other' };
  const first = await askStreamed(settings);
  const { conversationId } = first;
  (await model.next()).answer({ text: 'One.' });
  await first.reader.toEnd();
  const late = await askStreamed({ conversationId, delivery: 'steer' });
  const next = await model.next();
  expect(next.request.model).toBe('other');
  next.answer({ text: 'Two.' });
  await late.reader.toEnd();
  expect(await readResponse(late.responseId)).toMatchObject(settings);
});

it('a message that steers makes a run go on that would have finished, also over a crash', async () => {
  const { model, reader, conversationId, reply: first } = await startAnswer();
  first.send(textFrame('One'));
  await reader.untilText('One');
  const steering = await askStreamed({ conversationId, delivery: 'steer' });
  first.answer({ text: ' and done.' });
  const second = await model.next();
  expect(lastOf(second.request).map(([role]) => role)).toEqual(['assistant', 'user']);
  second.send(textFrame('Two'));
  await reader.untilText('Two');
  await abortAllDurableObjects();
  const again = await model.next();
  expect(lastOf(again.request)).toEqual(lastOf(second.request));
  again.answer({ text: 'Two and done.' });
  const events = await reader.toEnd();
  expect(events.filter(({ event }) => event.type === 'done')).toHaveLength(1);
  await steering.reader.toEnd();
  expect(model.count).toBe(3);
});

it('a message that steers stands at the same place for a reader who opened the conversation before, also behind a crash', async () => {
  const { model, reader, conversationId } = await askHeld();
  (await model.next()).send(textFrame('Taken back'));
  await reader.untilText('Taken back');
  await abortAllDurableObjects();
  const again = await model.next();
  const open = async () => (await call(`conversations/${conversationId}`)).json<ConversationView>();
  const opened = await open();
  const steering = await askStreamed({ conversationId, delivery: 'steer' });
  again.answer({ text: 'One.' });
  (await model.next()).answer({ text: 'Two.' });
  await Promise.all([reader.toEnd(), steering.reader.toEnd()]);
  const path = `conversations/${conversationId}/events?after=${opened.position}`;
  const since = new SseReader(await call(path));
  for (const { event } of await since.untilType('done')) foldConversation(opened, event);
  await since.leave();
  const { position, ...whole } = await open();
  expect(position).toBeGreaterThan(opened.position);
  expect(opened).toEqual({ ...whole, position: opened.position });
});

it('a message that steers is heard by the next run where its own did not live to hear it', async () => {
  const { model, reader, responseId, conversationId } = await askHeld();
  await model.next();
  const steering = await askStreamed({ conversationId, delivery: 'steer' });
  await cancel(responseId);
  await reader.toEnd();
  await steering.reader.toEnd();
  const next = await askStreamed({ conversationId });
  const reply = await model.next();
  const said = reply.request.messages.filter(({ role }) => role === 'user');
  expect(JSON.stringify(said).match(/<user_query>/g)).toHaveLength(3);
  reply.answer({ text: 'All of it.' });
  await next.reader.toEnd();
});

it('a message that steers is a message like any other where nothing is running', async () => {
  const { model, reader, responseId, conversationId } = await askHeld();
  (await model.next()).answer({ text: 'One.' });
  await reader.toEnd();
  const second = await askStreamed({ conversationId, delivery: 'steer' });
  expect(second.responseId).not.toBe(responseId);
  (await model.next()).answer({ text: 'Two.' });
  expect(textOf(await second.reader.toEnd())).toBe('Two.');
});

it('a message that steers is sent once where its request is repeated with its key', async () => {
  const { model, reader, responseId, conversationId, reply } = await startAnswer();
  const body = {
    messages: [{ role: 'user', content: 'more' }],
    conversationId,
    delivery: 'steer',
    stream: true,
  };
  const headers = { 'idempotency-key': crypto.randomUUID() };
  for (const _ of [1, 2]) {
    const steered = await call('chat/completions', { body, headers });
    expect(steered.headers.get('drawbridge-response-id')).toBe(responseId);
    await steered.body?.cancel();
  }
  reply.answer({ text: 'One.' });
  const next = await model.next();
  expect(next.request.messages.filter(({ role }) => role === 'user')).toHaveLength(2);
  next.answer({ text: 'Two.' });
  await reader.toEnd();
});

it('a message that interrupts ends the current run, at the model too, and is answered next', async () => {
  const { model, reader, responseId, conversationId, reply } = await startAnswer();
  reply.send(textFrame('Long st'));
  await reader.untilText('Long st');
  const second = await askStreamed({ conversationId, delivery: 'interrupt' });
  await reply.untilAborted();
  expect((await reader.toEnd()).at(-1)?.event).toMatchObject({ status: 'cancelled' });
  (await model.next()).answer({ text: 'Short.' });
  expect(textOf(await second.reader.toEnd())).toBe('Short.');
  expect(await readResponse(responseId)).toMatchObject({ status: 'cancelled' });
});

it('a message that waits can say something else, and everyone sees it', async () => {
  const { model, reader, conversationId, reply } = await startAnswer();
  const waiting = await askStreamed({ conversationId });
  const edited = await edit(waiting.responseId, 'Something else.');
  expect(await edited.json()).toEqual({ id: waiting.responseId, status: 'queued' });
  const view = await readView(conversationId);
  expect(view.messages.map(({ content }) => content)).toEqual(['go', 'Something else.']);
  reply.answer({ text: 'One.' });
  const next = await model.next();
  expect(String(next.request.messages.at(-1)?.content)).toContain('Something else.');
  next.answer({ text: 'Two.' });
  const events = await waiting.reader.toEnd();
  expect(events.map(({ event }) => event.type)).toContain('message_update');
  await reader.toEnd();
});

it('a message that waits cannot say something else once it is answered, and not by anyone else', async () => {
  const { reader, responseId, reply } = await startAnswer();
  expect(await errorOf(await edit(responseId, 'x'))).toMatchObject({
    status: 409,
    code: 'ALREADY_STARTED',
  });
  expect((await edit(responseId, 'x', 'eve')).status).toBe(404);
  expect((await edit(responseId, ' ')).status).toBe(400);
  reply.answer({ text: 'One.' });
  await reader.toEnd();
  expect((await edit(responseId, 'x')).status).toBe(409);
});

it('a message that waits cannot outgrow a request with what was sent beside it, and stays as it was', async () => {
  const { reader, conversationId, reply } = await startAnswer();
  const long = 'x'.repeat(480_000);
  const before = ['user', 'assistant', 'user'].map((role) => ({ role, content: long }));
  const messages = [...before, { role: 'user', content: 'short' }];
  const body = { conversationId, messages, stream: true };
  const sent = await call('chat/completions', { body });
  const responseId = sent.headers.get('drawbridge-response-id') ?? '';
  expect(await errorOf(await edit(responseId, '語'.repeat(200_000)))).toMatchObject({
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  });
  const view = await readView(conversationId);
  expect(view.messages.map(({ content }) => content)).toEqual(['go', 'short']);
  expect((await edit(responseId, 'other')).status).toBe(200);
  await cancel(responseId);
  await sent.body?.cancel();
  reply.answer({ text: 'One.' });
  await reader.toEnd();
});

function edit(responseId: string, content: string, account = 'ada'): Promise<Response> {
  const path = `chat/completions/${responseId}`;
  return call(path, { method: 'PATCH', body: { content }, account });
}

/** The messages behind the last one of the assistant, or it and those behind it where it called nothing. */
function lastOf({ messages }: ScriptedRequest): [string, unknown][] {
  return messages.slice(-2).map(({ role, content }) => [role, content]);
}

it('a message for a busy conversation waits for its turn, and sees what was answered before', async () => {
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

it('a message for a busy conversation is refused when it must not wait, and leaves no trace', async () => {
  const { model, reader, conversationId, reply } = await startAnswer();
  const refused = await ask('now', { conversationId, delivery: 'reject' });
  expect(await errorOf(refused)).toMatchObject({ status: 409, code: 'CONVERSATION_BUSY' });
  reply.answer({ text: 'One.' });
  await reader.toEnd();
  const view = await readView(conversationId);
  expect(view.messages).toHaveLength(1);
  const accepted = await askStreamed({ conversationId, delivery: 'reject' });
  (await model.next()).answer({ text: 'Two.' });
  await accepted.reader.toEnd();
});

it('a message for a busy conversation starts once when two are sent at the same time', async () => {
  const { model, reader, conversationId } = await askHeld();
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

it('a cancel ends a running answer for everyone, gives the request up and starts what waits', async () => {
  const { model, reader, responseId, conversationId, reply } = await startAnswer();
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

it('a cancel ends a message that waits, before it starts', async () => {
  const { model, reader, conversationId, reply } = await startAnswer();
  const waiting = await askStreamed({ conversationId });
  const asJson = ask('json', { conversationId });
  await waiting.reader.untilType('message');
  expect(await cancel(waiting.responseId)).toMatchObject({ status: 'cancelled' });
  const view = await readView(conversationId);
  expect(view.messages.map(({ cancelled }) => cancelled)).toEqual([undefined, true, undefined]);
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

it('a cancel ends calls at the bridge, closes their documents and ignores what still comes of them', async () => {
  const { model, bridge, reader, responseId, conversationId } = await askAtBridge();
  (await model.next()).answer({ calls: [runCommand('sleep 9'), readFile('a')] });
  const command = await bridge.nextCall();
  const read = await bridge.nextCall();
  bridge.send({ type: 'output', callId: command.callId, delta: 'begun\n' });
  await reader.until((events) => events.some(({ event }) => event.type === 'tool_output'));
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
    output: 'begun\n',
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

it('a cancel leaves the model unasked that was about to be asked', async () => {
  const model = holdModel();
  const held = { is: true };
  const { arm } = Deadlines.prototype;
  const arming = vi.spyOn(Deadlines.prototype, 'arm');
  arming.mockImplementation(async function (this: Deadlines) {
    await untilFree(held);
    await arm.call(this);
  });
  const { reader, responseId, conversationId } = await askStreamed();
  await vi.waitFor(() => expect(arming).toHaveBeenCalled());
  await cancel(responseId);
  held.is = false;
  await reader.toEnd();
  const next = await askStreamed({ conversationId });
  (await model.next()).answer({ text: 'Next.' });
  await next.reader.toEnd();
  expect(model.count).toBe(1);
  expect((await readResponse(responseId)).documents).toEqual([]);
});

it('a cancel is the end of an answer that goes on though no one listens', async () => {
  const held = { is: true };
  scriptModel((_, turn) => (turn === 0 ? deafAnswer('Half', ' and more', held) : { text: '.' }));
  const { reader, responseId, conversationId } = await askStreamed();
  await reader.untilText('Half');
  await cancel(responseId);
  held.is = false;
  await (await askStreamed({ conversationId })).reader.toEnd();
  const all = new SseReader(await call(`conversations/${conversationId}/events`));
  const events = await all.until((seen) => {
    const last = seen.at(-1)?.event;
    return last?.type === 'done' && last.status === 'completed';
  });
  await all.leave();
  expect(textOf(events)).toBe('Half.');
  expect(events.filter(({ event }) => event.type === 'done')).toHaveLength(2);
});

it('a cancel of an unknown response is a 404', async () => {
  const { model, reader, responseId } = await askHeld();
  (await model.next()).answer({ text: 'One.' });
  await reader.toEnd();
  const unknown = `${responseId.slice(0, -4)}00ff`;
  const response = await call(`chat/completions/${unknown}/cancel`, { method: 'POST' });
  expect(await errorOf(response)).toMatchObject({ status: 404 });
  expect(await cancel(responseId)).toEqual({ id: responseId, status: 'completed' });
});

it('a message whose bridge cannot be asked for its tools waits until it can, and then has them', async () => {
  const model = holdModel();
  const { bridgeId } = await connectBridge();
  const looking = vi.spyOn(TunnelHands.prototype, 'look').mockRejectedValue('reset');
  const { reader, responseId } = await askStreamed({ bridgeId });
  expect((await readResponse(responseId)).status).toBe('queued');
  looking.mockRestore();
  const reply = await model.next();
  expect(reply.request.tools).not.toEqual([]);
  reply.answer({ text: 'Done.' });
  await reader.toEnd();
});

it('a message whose bridge cannot be asked for its tools has an alarm while the bridge does not answer at all, so that a crash cannot lose it', async () => {
  const { bridgeId } = await connectBridge();
  const looking = vi.spyOn(TunnelHands.prototype, 'look').mockRejectedValueOnce('reset');
  looking.mockImplementation(() => new Promise(() => undefined));
  const { reader, conversationId } = await askStreamed({ bridgeId });
  await vi.waitFor(() => expect(looking).toHaveBeenCalledTimes(2));
  const alarm = await alarmOf(conversationId);
  expect(alarm).not.toBeNull();
  await reader.leave();
});

it('a message that is cancelled while its bridge cannot be asked does not start the next one twice', async () => {
  const model = holdModel();
  const held = { is: true };
  const { bridgeId } = await connectBridge();
  const looking = vi.spyOn(TunnelHands.prototype, 'look').mockRejectedValueOnce('reset');
  looking.mockImplementation(async () => {
    await untilFree(held);
    return null;
  });
  const { reader, responseId, conversationId } = await askStreamed({ bridgeId });
  await vi.waitFor(() => expect(looking).toHaveBeenCalledTimes(2));
  await cancel(responseId);
  looking.mockResolvedValueOnce(null);
  const next = await askStreamed({ conversationId });
  held.is = false;
  (await model.next()).answer({ text: 'Next.' });
  const types = (await next.reader.toEnd()).map(({ event }) => event.type);
  expect(types.filter((type) => type === 'response_start')).toHaveLength(1);
  await reader.toEnd();
});

/** An answer that does not end with its signal; the rest of it comes when it is not held any more. */
function deafAnswer(first: string, rest: string, held: { readonly is: boolean }): Response {
  const encoder = new TextEncoder();
  const frames = [[textFrame(first)], [textFrame(rest), ...endFrames('stop')]];
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (frames.length === 1) await untilFree(held);
      const next = frames.shift();
      if (next) controller.enqueue(encoder.encode(next.join('')));
      else controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** Looks by itself: see {@link holdModel}. */
async function untilFree(held: { readonly is: boolean }): Promise<void> {
  while (held.is) await scheduler.wait(5);
}
