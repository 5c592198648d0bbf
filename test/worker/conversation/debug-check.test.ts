import { abortAllDurableObjects } from 'cloudflare:test';
import { expect, it } from 'vitest';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import { ask, call } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { askAtBridge, askStreamed, cancel, readResponse } from './conversing.ts';

const WRITE = { name: 'write', arguments: { path: 'a.py', contents: 'x  # DRAWBRIDGE-DEBUG' } };

it('goes on over a crash in the search, and after it, and sends the model one note', async () => {
  const { model, bridge, search, responseId } = await startSearching();
  await abortAllDurableObjects();
  await readResponse(responseId);
  const again = await connectBridge({ bridgeId: bridge.bridgeId });
  again.succeed(search.callId, '1:x  # DRAWBRIDGE-DEBUG');
  await model.next();
  await abortAllDurableObjects();
  await readResponse(responseId);
  const next = await model.next();
  const { request } = next;
  const notes = request.messages.filter(({ content }) => String(content).includes('still stands'));
  expect(notes).toHaveLength(1);
  expect(request.messages.at(-1)).toEqual(notes[0]);
  next.answer({ text: 'Removed.' });
  const last = await connectBridge({ bridgeId: bridge.bridgeId });
  last.succeed((await last.nextCall()).callId, '(No matches.)');
  await new SseReader(await call(`chat/completions/${responseId}/events`)).toEnd();
  expect(await readResponse(responseId)).toMatchObject({ status: 'completed' });
});

it('takes a message that steers during the search', async () => {
  const { model, bridge, search, reader, conversationId } = await startSearching();
  const steered = await ask('One more thing.', { conversationId, delivery: 'steer', stream: true });
  bridge.succeed(search.callId, '(No matches.)');
  const next = await model.next();
  expect(String(next.request.messages.at(-1)?.content)).toContain('One more thing.');
  next.answer({ text: 'Done.' });
  bridge.succeed((await bridge.nextCall()).callId, '(No matches.)');
  await new SseReader(steered).toEnd();
  expect((await reader.toEnd()).at(-1)?.event).toMatchObject({ status: 'completed' });
  expect(model.count).toBe(3);
});

it('says where to look when it is cancelled, unless it has marked nothing', async () => {
  const { model, bridge, responseId } = await startSearching();
  await cancel(responseId);
  expect(errorsOf(await readResponse(responseId))).toEqual(['DEBUG_MARKS_LEFT']);
  const quiet = await askStreamed({ bridgeId: bridge.bridgeId, mode: 'debug' });
  await model.next();
  await cancel(quiet.responseId);
  expect(errorsOf(await readResponse(quiet.responseId))).toEqual([]);
});

it('says where to look after a cancel in a debug mode that it switched to', async () => {
  const { model, bridge, ...asked } = await askAtBridge({ mode: 'agent' });
  const { conversationId, responseId, reader } = asked;
  const switching = { name: 'switch_mode', arguments: { mode: 'debug', reason: 'A bug.' } };
  (await model.next()).answer({ calls: [switching] });
  await reader.untilType('clarification_request');
  const answers = [{ questionId: 'switch', optionIds: ['accept'] }];
  await call(`conversations/${conversationId}/clarifications/doc_001`, { body: { answers } });
  (await model.next()).answer({ calls: [WRITE] });
  bridge.succeed((await bridge.nextCall()).callId, 'written');
  await model.next();
  await cancel(responseId);
  expect(errorsOf(await readResponse(responseId))).toEqual(['DEBUG_MARKS_LEFT']);
});

function errorsOf({ documents }: ChatResponse) {
  return documents.flatMap(({ type, metadata }) =>
    type === 'error' ? [metadata['errorCode']] : [],
  );
}

it('takes a file that is gone for a clean one', async () => {
  const { model, bridge, search, reader } = await startSearching();
  bridge.finish(search.callId, {
    status: 'error',
    code: 'FILE_NOT_FOUND',
    data: 'DRAWBRIDGE-DEBUG',
  });
  expect((await reader.toEnd()).at(-1)?.event).toMatchObject({ status: 'completed' });
  expect(model.count).toBe(2);
});

async function startSearching() {
  const { model, bridge, ...asked } = await askAtBridge({ mode: 'debug' });
  (await model.next()).answer({ calls: [WRITE] });
  bridge.succeed((await bridge.nextCall()).callId, 'written');
  (await model.next()).answer({ text: 'Found it.' });
  const search = await bridge.nextCall();
  expect(search).toMatchObject({
    tool: 'grep',
    mode: 'debug',
    arguments: { pattern: 'DRAWBRIDGE-DEBUG', path: 'a.py' },
  });
  return { ...asked, model, bridge, search };
}
