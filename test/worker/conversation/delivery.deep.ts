import { expect, it } from 'vitest';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { ask, call, errorOf } from '../api.ts';
import { askHeld, askStreamed, cancel } from './conversing.ts';

it('counts what steers as part of what waits', async () => {
  const { model, conversationId, reader } = await askHeld();
  await model.next();
  const steer = () => ask('x'.repeat(499_000), { conversationId, delivery: 'steer', stream: true });
  const fitting = Math.floor(RUN_LIMITS.maxWaitingChars / 500_000);
  for (let count = 0; count < fitting; count++) {
    const sent = await steer();
    expect(sent.status).toBe(200);
    await sent.body?.cancel();
  }
  expect(await errorOf(await steer())).toMatchObject({ status: 409, code: 'CONVERSATION_BUSY' });
  await call(`conversations/${conversationId}`, { method: 'DELETE' });
  await reader.toEnd().catch(() => undefined);
});

it('lets no more wait than an object can hold, neither sent nor by a change', async () => {
  const { model, conversationId, reader } = await askHeld();
  await model.next();
  const pasted = ['user', 'assistant', 'user'].map((role) => ({
    role,
    content: 'x'.repeat(496_000),
  }));
  const large = { conversationId, messages: pasted, stream: true };
  const busy = { status: 409, code: 'CONVERSATION_BUSY' };
  for (let count = 0; count < 5; count++) {
    const sent = await call('chat/completions', { body: large });
    expect(sent.status).toBe(200);
    await sent.body?.cancel();
  }
  expect(await errorOf(await call('chat/completions', { body: large }))).toMatchObject(busy);
  const small = [await askStreamed({ conversationId }), await askStreamed({ conversationId })];
  const changed = small.map(({ responseId }) =>
    call(`chat/completions/${responseId}`, {
      method: 'PATCH',
      body: { content: 'x'.repeat(490_000) },
    }),
  );
  const [first, second] = await Promise.all(changed);
  expect(first?.status).toBe(200);
  expect(second && (await errorOf(second))).toMatchObject(busy);
  await call(`conversations/${conversationId}`, { method: 'DELETE' });
  await reader.toEnd().catch(() => undefined);
});

it('takes no more messages than can wait, and takes them again later', async () => {
  const { model, conversationId, responseId, reader } = await askHeld();
  await model.next();
  const waiting = Array.from({ length: RUN_LIMITS.maxWaiting }, () =>
    askStreamed({ conversationId }),
  );
  const [first] = await Promise.all(waiting);
  expect(await errorOf(await ask('one more', { conversationId }))).toMatchObject({
    status: 409,
    code: 'CONVERSATION_BUSY',
  });
  await cancel(first?.responseId ?? '');
  expect((await askStreamed({ conversationId })).responseId).not.toBe(responseId);
  await call(`conversations/${conversationId}`, { method: 'DELETE' });
  await reader.toEnd().catch(() => undefined);
});
