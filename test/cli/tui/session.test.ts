import { expect, it } from 'vitest';
import { CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from '../../client/sample-tape.ts';
import { openWriter, POST } from './open-writer.ts';

it('sends a message that steers without settings, which the server would refuse', async () => {
  const { api, session } = await openWriter({ conversationId: CONVERSATION_ID, maxTurns: 3 });
  await session.send('more', 'steer');
  const { body } = api.requests.find(({ line }) => line === POST) ?? {};
  expect(Object.keys(Object(body)).sort()).toEqual([
    ...['conversationId', 'delivery', 'device', 'messages', 'stream'],
  ]);
});

it('sends the second message into the conversation that the first one begins', async () => {
  const { api, session } = await openWriter();
  await Promise.all([session.send('one'), session.send('two', 'steer')]);
  const bodies = api.requests.filter(({ line }) => line === POST).map(({ body }) => Object(body));
  expect(bodies.map(({ conversationId }) => conversationId)).toEqual([undefined, CONVERSATION_ID]);
});

it('takes a waiting message back once, and cancels it at the server', async () => {
  const { api, session } = await openWriter({ conversationId: CONVERSATION_ID });
  await expect.poll(() => session.view?.id).toBe(CONVERSATION_ID);
  const [said] = SAMPLE_TAPE;
  if (said?.type !== 'message') throw new Error('The tape begins with another event.');
  session.view?.messages.push(said.message);
  const line = `POST chat/completions/${RESPONSE_ID}/cancel`;
  api.answers.set(line, { id: RESPONSE_ID, status: 'cancelled' });
  expect(await Promise.all([session.takeBack(), session.takeBack()])).toEqual([
    { text: said.message.content, images: [] },
    undefined,
  ]);
  expect(api.requests.filter((request) => request.line === line)).toHaveLength(1);
});
