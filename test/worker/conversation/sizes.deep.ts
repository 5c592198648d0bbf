import { expect, it } from 'vitest';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import type { ConversationView } from '../../../shared/wire/documents.ts';
import { ask, call, scriptModel } from '../api.ts';
import { askAtBridge, expectUsable, readResponse } from './conversing.ts';
import { callFrame, endFrames } from './held-model.ts';
import { writeLong } from './long-conversation.ts';

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

it('what is larger than a stored row ends the run as the arguments of a call, and does no harm', async () => {
  const { model, bridge, reader, responseId, conversationId } = await askAtBridge();
  const raw = JSON.stringify({ path: 'a', contents: '語'.repeat(2_800_000) });
  (await model.next()).send(callFrame(0, 'a', 'write', raw), ...endFrames('tool_calls'));
  await reader.toEnd();
  expect((await readResponse(responseId)).status).toBe('error');
  expect(bridge.frames).toEqual([]);
  await expectUsable(conversationId);
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
