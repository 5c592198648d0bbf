import { expect, it } from 'vitest';
import { OUTPUT_LIMITS } from '../../../shared/limits.ts';
import { askStreamed, readResponse } from '../conversation/conversing.ts';
import { holdModel, runCommand } from '../conversation/held-model.ts';
import { connectBridge } from './scripted-bridge.ts';

it('what a bridge shows of one call is bounded, whatever it sends, and its credit goes on', async () => {
  const model = holdModel();
  const bridge = await connectBridge();
  const { reader, responseId } = await askStreamed({ bridgeId: bridge.bridgeId });
  (await model.next()).answer({ calls: [runCommand('yes')] });
  const { callId } = await bridge.nextCall();
  const delta = 'y'.repeat(OUTPUT_LIMITS.maxLiveChars / 2);
  for (let round = 0; round < 5; round++) {
    bridge.send({ type: 'output', callId, delta });
    expect(await bridge.next('credit')).toMatchObject({ chars: delta.length });
  }
  bridge.send({ type: 'output', callId, delta: '[too much to show]' });
  await bridge.next('credit');
  const { documents } = await readResponse(responseId);
  expect(documents[0]?.metadata['output']).toBe(`${delta}${delta}[too much to show]`);
  await reader.leave();
});
