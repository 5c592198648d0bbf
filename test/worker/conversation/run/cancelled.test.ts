import { runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { askHeld, askStreamed, cancel, conversationObject, startAnswer } from '../conversing.ts';
import { callFrame, type HeldReply, textFrame } from '../held-model.ts';

it('gives the model what it had said when its user stopped it, and that they did', async () => {
  const { model, reader, responseId, conversationId, reply } = await startAnswer();
  reply.send(textFrame('First I '), textFrame('do this'), callFrame(0, 'a', 'nothing', '{"x'));
  await reader.untilText('do this');
  await cancel(responseId);
  await reader.toEnd();
  const next = await askStreamed({ conversationId });
  const answering = await model.next();
  const [, , ...sent] = answering.request.messages;
  expect(sent).toMatchObject([
    {
      role: 'assistant',
      content: expect.stringMatching(/^First I do this\n\n\[The user stopped this answer here/),
    },
    { role: 'user' },
  ]);
  expect(JSON.stringify(sent)).not.toContain('tool_calls');
  answering.answer({ text: 'Done.' });
  await next.reader.toEnd();
});

it('is not sent the same words again for a run that was stopped before it said any', async () => {
  const { model, reader, conversationId } = await askHeld();
  (await model.next()).send(textFrame('Said once.'));
  await reader.untilText('Said once.');
  const interrupt = () => askStreamed({ conversationId, delivery: 'interrupt' });
  await Promise.all([interrupt(), interrupt()]);
  let asked = await model.next();
  const usersIn = (reply: HeldReply) =>
    reply.request.messages.filter(({ role }) => role === 'user').length;
  while (usersIn(asked) < 3) asked = await model.next();
  expect(JSON.stringify(asked.request.messages).split('Said once.')).toHaveLength(2);
  asked.answer({ text: 'Done.' });
  await reader.toEnd();
});

it('is cancelled however much it had said', async () => {
  const { model, reader, responseId, conversationId } = await askHeld();
  (await model.next()).send(textFrame('\u0001'.repeat(700_000)));
  await reader.untilType('content_delta');
  expect(await cancel(responseId)).toMatchObject({ status: 'cancelled' });
  await reader.toEnd();
  const stub = conversationObject(conversationId);
  const { bytes } = await runInDurableObject(stub, (_, { storage }) =>
    storage.sql.exec<{ bytes: number }>('select octet_length(body) as bytes from turns').one(),
  );
  expect(bytes).toBeLessThan(2_000_000);
});
