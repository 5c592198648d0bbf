import { afterEach, expect, it, vi } from 'vitest';
import { FOLLOW_LIMITS } from '../../../shared/limits.ts';
import { endFrames, holdModel, textFrame } from '../conversation/held-model.ts';
import { ChunkReader, complete } from './completing.ts';

afterEach(() => vi.restoreAllMocks());

it('shows by comments that a silent run is alive, from the first heartbeat on', async () => {
  quickenHeartbeat();
  const model = holdModel();
  const asking = complete({ stream: true });
  const reply = await model.next();
  const reader = new ChunkReader(await asking);
  await reader.untilComment();
  expect(reader.content).toBe('');
  reply.send(textFrame('At last.'), ...endFrames('stop'));
  reply.close();
  await reader.toEnd();
  expect(new Set(reader.comments)).toEqual(new Set(['at work']));
  expect([reader.content, reader.finishReason]).toEqual(['At last.', 'stop']);
});

it('tells within the stream of a failure that comes behind a heartbeat', async () => {
  quickenHeartbeat();
  const model = holdModel();
  const asking = complete({ stream: true });
  const reply = await model.next();
  const reader = new ChunkReader(await asking);
  reply.send(`data: ${JSON.stringify({ error: { message: 'No.', code: 'bad' } })}\n\n`);
  reply.close();
  await reader.toEnd();
  expect(reader.errors).toMatchObject([{ code: 'upstream_error', message: 'No.' }]);
  expect(reader.isDone).toBe(true);
});

/** Faked timers would beat in the test's context, where the runtime lets nobody write to the stream. */
function quickenHeartbeat(): void {
  const { setInterval: original } = globalThis;
  vi.spyOn(globalThis, 'setInterval').mockImplementation(((beat: () => void, ms: number) =>
    original(beat, ms === FOLLOW_LIMITS.heartbeatMs ? 5 : ms)) as typeof setInterval);
}
