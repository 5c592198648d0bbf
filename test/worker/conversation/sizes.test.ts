import { expect, it } from 'vitest';
import { fewOf } from '../../depth.ts';
import { askAtBridge, askHeld, expectUsable, readResponse } from './conversing.ts';
import { endFrames, runCommand, textFrame } from './held-model.ts';

/** More than a stored row may hold, however it is encoded. */
const HUGE = 2_800_000;

const CHARACTERS: readonly (readonly [string, string, number])[] = [
  ['one-byte characters', 'x', HUGE],
  ['three-byte characters', '語', HUGE / 4],
  ['characters that JSON escapes', '\u0001', HUGE / 4],
  ['pairs of surrogates', '😀', HUGE / 2],
];

it.each(CHARACTERS.slice(0, fewOf(CHARACTERS.length, 1)))(
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
