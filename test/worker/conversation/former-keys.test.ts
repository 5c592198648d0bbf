/** Idempotency keys that an earlier version has stored, with the digest that it made of the request. */
import { runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { ChatRequest } from '../../../shared/api/requests.ts';
import { sha256 } from '../../../shared/text/sha256.ts';
import { call, errorOf, scriptModel } from '../api.ts';
import { conversationObject, crash } from './conversing.ts';

const BODY = { messages: [{ role: 'user', content: 'go' }] };

/** Sends a request with a key. Returns its response, and a way to send one with the same key again. */
async function keyed(path: string, body: object) {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const again = (other: object) => call(path, { body: other, headers });
  const response = await (await again(body)).json<{ id: string; conversationId: string }>();
  return { ...response, again };
}

/** Gives the newest run the digest of these fields, as an earlier version would have stored it. */
async function makeFormer(conversationId: string, fields: object): Promise<void> {
  const digest = await sha256(JSON.stringify(fields));
  await runInDurableObject(conversationObject(conversationId), (_, { storage }) => {
    storage.sql.exec(
      `update runs set request = json_set(request, '$.idempotency.digest', ?)
       where ordinal = (select max(ordinal) from runs)`,
      digest,
    );
  });
  await crash(conversationId);
}

it('the same message gets the response of then, and another one is refused', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const { id, conversationId, again } = await keyed('chat/completions', BODY);
  const { stream: _, ...sent } = ChatRequest.parse(BODY);
  await makeFormer(conversationId, sent);
  expect(Object(await (await again(BODY)).json()).id).toBe(id);
  const other = { messages: [{ role: 'user', content: 'something else' }] };
  expect(await errorOf(await again(other))).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
});

it('the same holds for what is no message', async () => {
  scriptModel(() => ({ text: 'Hi.' }));
  const { conversationId } = await keyed('chat/completions', BODY);
  const { id, again } = await keyed(`conversations/${conversationId}/undo`, { scope: 'last' });
  await makeFormer(conversationId, {
    messages: [{ role: 'user', content: 'Undo the newest changes of files.' }],
    conversationId,
    delivery: 'reject',
    undo: { scope: 'last', preview: false },
  });
  const same = await again({ scope: 'last' });
  expect(Object(await same.json()).id).toBe(id);
  expect(await errorOf(await again({ scope: 'last', preview: true }))).toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  });
});
