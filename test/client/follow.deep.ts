import { expect, it } from 'vitest';
import type { Positioned } from '../../client/index.ts';
import { createClient } from '../../client/index.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { foldEvent, newResponse } from '../../shared/wire/fold.ts';
import { CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from './sample-tape.ts';
import { eventsAfter, startScriptedApi, streamText } from './scripted-api.ts';
import { createTestClock } from './test-clock.ts';

const WHOLE = eventsAfter(SAMPLE_TAPE, 0);
const TOTAL_BYTES = Buffer.byteLength(streamText(WHOLE));

it.each([
  { name: 'torn', rudely: true },
  { name: 'ended politely', rudely: false },
])(
  'a response stream folds to the same documents at whichever byte its connection is $name',
  async ({ rudely }) => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    const stream = () => client.streamChat({ messages: [{ role: 'user', content: 'Hé 👋' }] });
    const whole = await foldOf(stream());
    for (let afterBytes = 0; afterBytes <= TOTAL_BYTES; afterBytes++) {
      api.fates.push({ type: 'cut', afterBytes, rudely });
      expect(await foldOf(stream()), `cut after ${afterBytes} bytes`).toEqual(whole);
    }
  },
);

async function foldOf(events: AsyncIterable<Positioned>): Promise<ChatResponse> {
  const response = newResponse({
    id: RESPONSE_ID,
    conversationId: CONVERSATION_ID,
    model: 'demo',
    mode: 'agent',
    created: '2026-11-20T12:00:00Z',
  });
  for await (const { event } of events) foldEvent(response, event);
  return response;
}
