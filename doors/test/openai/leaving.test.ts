import { expect, it, vi } from 'vitest';
import { call } from '../../../test/worker/api.ts';
import { endFrames, holdModel, textFrame } from '../../../test/worker/conversation/held-model.ts';
import { quicken } from '../../../test/worker/follow/watching.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { ChunkReader, complete } from './completing.ts';

it('cancels the run of a client that leaves before its answer is there', async () => {
  const model = holdModel();
  const leaving = new AbortController();
  const asking = complete({}, { signal: leaving.signal }).catch(() => undefined);
  const reply = await model.next();
  reply.send(textFrame('Half'));
  leaving.abort();
  await reply.untilAborted();
  await asking;
});

it('cancels the run of a client that is gone behind its headers, although no signal says so', async () => {
  quicken({ [FOLLOW_LIMITS.heldMs]: 5, [FOLLOW_LIMITS.trickleMs]: 5 });
  const model = holdModel();
  const asking = complete();
  const reply = await model.next();
  const { status, body } = await asking;
  expect(status).toBe(200);
  await body?.cancel();
  await reply.untilAborted();
});

it('lets a run go on whose conversation is kept', async () => {
  const model = holdModel();
  const leaving = new AbortController();
  const asking = complete({ stream: true, store: true }, { signal: leaving.signal });
  const reply = await model.next();
  reply.send(textFrame('Half'));
  const reader = new ChunkReader(await asking);
  await reader.untilContent('Half');
  leaving.abort();
  reply.send(textFrame(', whole.'), ...endFrames('stop'));
  reply.close();
  await vi.waitFor(async () => {
    const view = await (await call(`conversations/${reader.conversationId}`)).json();
    expect(view).toMatchObject({
      responses: [{ status: 'completed', documents: [{ content: 'Half, whole.' }] }],
    });
  });
});
