import { expect, it } from 'vitest';
import { askStreamed, cancel, startAnswer } from '../conversing.ts';
import { textFrame } from '../held-model.ts';

it.each([
  ['had said something', [textFrame('First I do')]],
  ['had said nothing', []],
])('a message that steered a run is over with it, where that %s', async (_, said) => {
  const { model, reader, responseId, conversationId, reply } = await startAnswer();
  reply.send(...said);
  if (said.length > 0) await reader.untilText('do');
  const steering = await askStreamed({ conversationId, delivery: 'steer' });
  await cancel(responseId);
  await Promise.all([reader.toEnd(), steering.reader.toEnd()]);
  const next = await askStreamed({ conversationId });
  const answering = await model.next();
  const sent = answering.request.messages;
  expect(sent.slice(-3)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: expect.stringMatching(/^\[The user stopped/) },
    { role: 'user' },
  ]);
  answering.answer({ text: 'Done.' });
  await next.reader.toEnd();
});
