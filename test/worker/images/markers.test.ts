/** Markers that a client has written itself, of images that are really held. */
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { callV1, completed } from '../../../doors/test/openai/completing.ts';
import { sha256 } from '../../../shared/text/sha256.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { conversationObject, expectUsable, newAccount } from '../conversation/conversing.ts';

const ROSE = `data:image/jpeg;base64,/9j/${'rAbC+/09'.repeat(200_000)}`;
const image = (url: string) => ({ type: 'image_url', image_url: { url } });
const text = (words: string) => ({ type: 'text', text: words });
const asks = (...parts: object[]) => ({ role: 'user', content: [text('Look.'), ...parts] });

/** A conversation that holds an image, and the digest of its first piece, which its sender can compute. */
async function holding(): Promise<{ conversationId: string; digest: string; chars: number }> {
  scriptModel(() => ({ text: 'I see.' }));
  const { conversationId } = await chat('', { messages: [asks(image(ROSE))] });
  const [row] = await runInDurableObject(conversationObject(conversationId), (_, { storage }) =>
    storage.sql
      .exec('select digest, length(body) as chars from images order by chars desc')
      .toArray(),
  );
  return { conversationId, digest: String(row?.['digest']), chars: Number(row?.['chars']) };
}

describe('a marker of an image that the conversation holds', () => {
  it('makes no request to the model larger than what was sent', async () => {
    const { conversationId, digest, chars } = await holding();
    const requests = scriptModel(() => ({ text: 'I see.' }));
    const forged = ['data:image/jpeg;base64,held', 20 * chars, ...Array(20).fill(digest)].join('/');
    await call('chat/completions', { body: { messages: [asks(image(forged))], conversationId } });
    const [largest = 0] = requests.map((each) => JSON.stringify(each).length).sort((a, b) => b - a);
    expect(largest).toBeLessThan(3 * ROSE.length);
  });

  it('with a wrong length does not end the conversation', async () => {
    const { conversationId, digest } = await holding();
    const forged = `data:image/jpeg;base64,held/9/${digest}`;
    await call('chat/completions', { body: { messages: [asks(image(forged))], conversationId } });
    await expectUsable(conversationId);
  });

  it('stays what it is in words', async () => {
    const { conversationId, digest, chars } = await holding();
    const requests = scriptModel(() => ({ text: 'I see.' }));
    const words = `What is held/${chars}/${digest}?`;
    await chat(words, { conversationId });
    expect(JSON.stringify(requests.at(-1)?.messages.at(-1))).toContain(words);
  });

  it('with a wrong length in words does not end the conversation', async () => {
    const { conversationId, digest } = await holding();
    scriptModel(() => ({ text: 'I see.' }));
    await chat(`What is held/9/${digest}?`, { conversationId });
    await expectUsable(conversationId);
  });
});

it('a marker of an image that another account holds is one of none', async () => {
  const { digest, chars } = await holding();
  const account = newAccount();
  const refusals = [digest, 'a'.repeat(64)].map(async (each) => {
    const forged = `data:image/jpeg;base64,held/${chars}/${each}`;
    return await errorOf(
      await call('chat/completions', { body: { messages: [asks(image(forged))] }, account }),
    );
  });
  const [held, unknown] = await Promise.all(refusals);
  expect(held).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  expect(held).toEqual(unknown);
});

it('a marker in a result has no more content than it says', async () => {
  const requests = scriptModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { text: 'I see.' }
      : { calls: [{ name: 'take_photo', arguments: {} }] },
  );
  const tools = [
    { type: 'function', function: { name: 'take_photo', parameters: { type: 'object' } } },
  ];
  const ask = { role: 'user', content: 'Take one.' };
  const { choices } = await completed({ messages: [ask], tools });
  const message = choices[0]?.message;
  const id = message?.tool_calls?.[0]?.id;
  // The piece is in the same request, whose sender knows its digest. 20,000 of them have room in a body.
  const small = `data:image/jpeg;base64,/9j/${'AbC+'.repeat(75_000)}`;
  const digest = await sha256(small.split(',')[1] ?? '');
  const forged = ['data:image/jpeg;base64,held', 4, digest, digest, digest].join('/');
  const result = { role: 'tool', tool_call_id: id, content: [text('Here:'), image(forged)] };
  const body = JSON.stringify({ messages: [asks(image(small)), ask, message, result], tools });
  const response = await callV1('chat/completions', {}, body);
  await response.text();
  expect([response.status, requests.length]).toEqual([400, 1]);
});
