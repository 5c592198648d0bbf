import { abortAllDurableObjects } from 'cloudflare:test';
import { expect, it } from 'vitest';
import {
  type HeldModel,
  holdModel,
  runCommand,
  textFrame,
} from '../../../test/worker/conversation/held-model.ts';
import { connectBridge, openBridge } from '../../../test/worker/tunnel/scripted-bridge.ts';
import { ChunkReader, complete } from './completing.ts';

it('a crash before the first word does no harm', async () => {
  const bridge = await connectBridge();
  const model = holdModel();
  const asking = complete({ stream: true, bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('make')] });
  const reader = new ChunkReader(await asking);
  const { callId } = await bridge.nextCall();
  await abortAllDurableObjects();
  await bridge.closed;
  const back = await openBridge({ bridgeId: bridge.bridgeId });
  await back.greet();
  back.succeed(callId, 'made');
  (await model.next()).answer({ text: 'Built.' });
  await reader.toEnd();
  expect([reader.content, reader.finishReason]).toEqual(['Built.', 'stop']);
});

it('a crash leaves the text of earlier turns, once', async () => {
  const bridge = await connectBridge();
  const { model, reader } = await startWith('First.', { bridgeId: bridge.bridgeId }, [
    runCommand('make'),
  ]);
  const { callId } = await bridge.nextCall();
  bridge.succeed(callId, 'made');
  const dying = await model.next();
  dying.send(textFrame('And th'));
  await reader.untilContent('And th');
  await abortAllDurableObjects();
  (await model.next()).answer({ text: 'And then.' });
  await reader.toEnd();
  expect(reader.content).toBe('First.\n\nAnd then.');
});

it('a crash does not show in an answer that is not streamed', async () => {
  const model = holdModel();
  const asking = complete();
  (await model.next()).send(textFrame('Half'));
  await abortAllDurableObjects();
  (await model.next()).answer({ text: 'Whole.' });
  expect(await (await asking).json()).toMatchObject({
    choices: [{ message: { content: 'Whole.' }, finish_reason: 'stop' }],
  });
});

async function startWith(
  text: string,
  more: Record<string, unknown> = {},
  calls?: Parameters<Awaited<ReturnType<HeldModel['next']>>['answer']>[0]['calls'],
) {
  const model = holdModel();
  const asking = complete({ stream: true, ...more });
  const reply = await model.next();
  if (calls) reply.answer({ text, calls });
  else reply.send(textFrame(text));
  const reader = new ChunkReader(await asking);
  await reader.untilContent(text);
  return { model, reader };
}
