import { expect, it } from 'vitest';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import type { ConversationView } from '../../../shared/wire/documents.ts';
import { ask, call, scriptModel } from '../api.ts';
import { askAtBridge, askHeld, expectUsable, readResponse } from './conversing.ts';
import { callFrame, endFrames, runCommand, textFrame } from './held-model.ts';
import { writeLong } from './long-conversation.ts';

/** More than a stored row may hold, however it is encoded. */
const HUGE = 2_800_000;

it.each<[string, string, number]>([
  ['one-byte characters', 'x', HUGE],
  ['three-byte characters', '語', HUGE / 4],
  ['characters that JSON escapes', '\u0001', HUGE / 4],
  ['pairs of surrogates', '😀', HUGE / 2],
])(
  'what is larger than a stored row is kept whole as one piece of text: %s',
  async (_, character, count) => {
    const { model, reader, responseId, conversationId } = await askHeld();
    const text = character.repeat(count);
    (await model.next()).send(textFrame(text), ...endFrames('stop'));
    await reader.toEnd();
    const { status, documents } = await readResponse(responseId);
    expect(status).toBe('completed');
    expect(documents[0]?.content === text).toBe(true);
    await expectUsable(conversationId);
  },
);

it('what is larger than a stored row ends the run as the arguments of a call, and does no harm', async () => {
  const { model, bridge, reader, responseId, conversationId } = await askAtBridge();
  const raw = JSON.stringify({ path: 'a', contents: '語'.repeat(HUGE) });
  (await model.next()).send(callFrame(0, 'a', 'write', raw), ...endFrames('tool_calls'));
  await reader.toEnd();
  expect((await readResponse(responseId)).status).toBe('error');
  expect(bridge.frames).toEqual([]);
  await expectUsable(conversationId);
});

it('what is larger than a stored row is left out of what a bridge says beside its result, and the rest counts', async () => {
  const { model, bridge, reader, responseId } = await askAtBridge();
  (await model.next()).answer({ calls: [runCommand('cat big')] });
  const { callId } = await bridge.nextCall();
  bridge.succeed(callId, 'ok', { output: '語'.repeat(HUGE / 2), exitCode: 3, duration_ms: 1 });
  expect((await bridge.next('ack')).callId).toBe(callId);
  (await model.next()).answer({ text: 'Seen.' });
  await reader.toEnd();
  const { documents, status } = await readResponse(responseId);
  expect(status).toBe('completed');
  expect(documents[0]?.metadata).toMatchObject({ command: 'cat big', exitCode: 3, output: '' });
});

it.each(['x', '語', '\u0001'])('takes a body up to its limit, made of %j', async (character) => {
  scriptModel(() => ({ text: 'ok' }));
  const bytes = new TextEncoder().encode(JSON.stringify(character)).byteLength - 2;
  const room = REQUEST_LIMITS.maxBodyBytes - 4096;
  const chars = Math.min(Math.floor(room / bytes), REQUEST_LIMITS.maxMessageChars);
  const left = Math.floor((room - chars * bytes) / bytes);
  const response = await ask(character.repeat(chars), {
    context: { projectLayout: character.repeat(Math.min(left, REQUEST_LIMITS.maxContextChars)) },
  });
  expect(response.status).toBe(200);
});

it('gives a conversation that no RPC could carry as a whole', async () => {
  const exchanges = 20;
  const chars = 1_800_000;
  const { account, conversationId } = await writeLong(exchanges, () => chars);
  const exported = await call(`conversations/${conversationId}/export`, { account });
  expect((await exported.text()).length).toBeGreaterThan(exchanges * chars);
  const newest = await call(`conversations/${conversationId}`, { account });
  const { responses }: ConversationView = await newest.json();
  expect(responses.map(({ documents }) => documents[0]?.content?.length)).toEqual([chars]);
});
