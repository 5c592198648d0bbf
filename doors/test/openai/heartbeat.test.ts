import { expect, it } from 'vitest';
import { endFrames, holdModel, textFrame } from '../../../test/worker/conversation/held-model.ts';
import { quicken } from '../../../test/worker/follow/watching.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { ChunkReader, complete } from './completing.ts';

it('reports a failure after a heartbeat within the stream', async () => {
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5 });
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

it('puts white space ahead of an answer in one piece that takes long', async () => {
  quicken({ [FOLLOW_LIMITS.heldMs]: 5, [FOLLOW_LIMITS.trickleMs]: 5 });
  const model = holdModel();
  const asking = complete();
  const reply = await model.next();
  const response = await asking;
  reply.send(textFrame('At last.'), ...endFrames('stop'));
  reply.close();
  const text = await response.text();
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('drawbridge-conversation-id')).toMatch(/^conv_/);
  expect(text).toMatch(/^ +\{/);
  expect(JSON.parse(text)).toMatchObject({
    object: 'chat.completion',
    choices: [{ message: { content: 'At last.' }, finish_reason: 'stop' }],
  });
});

it('reports a failure after the headers in the body under 200', async () => {
  quicken({ [FOLLOW_LIMITS.heldMs]: 5 });
  const model = holdModel();
  const asking = complete();
  const reply = await model.next();
  const response = await asking;
  reply.send(`data: ${JSON.stringify({ error: { message: 'No.', code: 'bad' } })}\n\n`);
  reply.close();
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    error: { code: 'upstream_error', message: 'No.', type: 'server_error' },
  });
});
