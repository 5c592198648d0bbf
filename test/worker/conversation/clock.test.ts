import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DAY } from '../../../shared/units.ts';
import { scriptModel } from '../api.ts';
import { openBridge } from '../tunnel/scripted-bridge.ts';
import { alarmOf, askAtBridge, askStreamed, readResponse, startAnswer } from './conversing.ts';
import { readFile, textFrame } from './held-model.ts';
import { type ShiftedClock, shiftClock } from './shifted-clock.ts';

let clock: ShiftedClock;

beforeEach(() => {
  clock = shiftClock();
});
describe.each([
  ['forward', DAY],
  ['back', -DAY],
])('a clock that is set %s by a day', (_, jumpMs) => {
  it('holds nothing back while an answer streams', async () => {
    const { reader, responseId, reply } = await startAnswer();
    reply.send(textFrame('before '));
    await reader.untilText('before');
    clock.aheadMs = jumpMs;
    reply.send(textFrame('after '));
    await reader.untilText('after');
    reply.send(textFrame('that '));
    await reader.untilText('that');
    reply.answer({ text: 'end' });
    await reader.toEnd();
    const { status, documents, metadata } = await readResponse(responseId);
    expect(status).toBe('completed');
    expect(documents[0]?.content).toBe('before after that end');
    expect(metadata.duration_ms).toBeGreaterThanOrEqual(0);
  });

  it('lets a bridge come back in the middle of a call', async () => {
    const { model, bridge, reader, responseId } = await askAtBridge();
    (await model.next()).answer({ calls: [readFile('a')] });
    await bridge.nextCall();
    clock.aheadMs = jumpMs;
    const back = await openBridge({ bridgeId: bridge.bridgeId });
    const [open] = (await back.greet()).calls;
    back.succeed(open?.callId ?? '', 'content');
    (await model.next()).answer({ text: 'Done.' });
    await reader.toEnd();
    expect(await readResponse(responseId)).toMatchObject({ status: 'completed' });
    await bridge.closed;
  });

  it('does not keep a failed turn from its next attempt', async () => {
    const busy = () => new Response('busy', { status: 503, headers: { 'retry-after': '1' } });
    scriptModel((_, number) => (number === 0 ? busy() : { text: 'Now.' }));
    const { reader, responseId, conversationId } = await askStreamed();
    await vi.waitFor(async () => expect(await alarmOf(conversationId)).toBeLessThan(soonMs()));
    clock.aheadMs = jumpMs;
    await reader.toEnd();
    expect(await readResponse(responseId)).toMatchObject({ status: 'completed' });
  });
});

function soonMs(): number {
  return Date.now() + 2_000;
}
