import { expect, it, vi } from 'vitest';
import { framesOf, streamOf } from '../../far-ends/reply-script.ts';
import { call, chat } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { cancel, newAccount } from './conversing.ts';
import { holdModel } from './held-model.ts';

/** A model server that refuses a word until it is told to take it. */
function refuse(word: string, status = 400) {
  const refusing = { isStrict: true, requests: 0 };
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    refusing.requests++;
    const isRefused = refusing.isStrict && String(init?.body).includes(word);
    if (isRefused) return Response.json({ error: { message: `No ${word}` } }, { status });
    return streamOf(framesOf({ text: String(init?.body).includes(word) ? 'with' : 'without' }));
  });
  return refusing;
}

const textsOf = ({ documents }: Awaited<ReturnType<typeof chat>>) =>
  documents.filter(({ type }) => type === 'text').map(({ content }) => content);

async function refusedConversation() {
  const account = newAccount();
  const refusing = refuse('quetzal');
  const body = { messages: [{ role: 'user', content: 'the quetzal' }] };
  const first = await call('chat/completions', { account, body });
  const conversationId = first.headers.get('drawbridge-conversation-id') ?? '';
  const say = (content: string, more = {}) => chat(content, { account, conversationId, ...more });
  return { account, conversationId, refusing, say, first: await first.json() };
}

it('says which part the answer was made without, once, with what the server said', async () => {
  const { say, first } = await refusedConversation();
  expect(first).toMatchObject({
    status: 'error',
    documents: [
      { type: 'error', metadata: { errorCode: 'UPSTREAM_ERROR', details: 'No quetzal' } },
    ],
  });
  const second = await say('hello');
  expect(second).toMatchObject({ status: 'completed' });
  expect(second.documents.map(({ metadata }) => metadata['errorCode'])).toEqual([
    undefined,
    'LEFT_OUT',
  ]);
  expect(second.documents[1]?.metadata['details']).toBe('No quetzal');
  expect((await say('and now?')).documents).toHaveLength(1);
});

it('sends the part again when a person wants that, and to another model at once', async () => {
  const { account, conversationId, refusing, say } = await refusedConversation();
  await say('hello');
  refusing.isStrict = false;
  expect(textsOf(await say('and now?'))).toEqual(['without']);
  expect(textsOf(await say('and now?', { model: 'another' }))).toEqual(['with']);
  const path = `conversations/${conversationId}/send-whole`;
  expect((await call(path, { account: newAccount(), method: 'POST' })).status).toBe(404);
  expect((await call(path, { account, method: 'POST' })).status).toBe(204);
  expect(textsOf(await say('and now?'))).toEqual(['with']);
});

it('keeps a copy of the conversation from what was refused', async () => {
  const { account, conversationId, refusing, say } = await refusedConversation();
  const { id: responseId } = await say('hello');
  const fork = { account, body: { responseId } };
  const forked = await call(`conversations/${conversationId}/forks`, fork);
  const { id } = (await forked.json()) as { id: string };
  refusing.requests = 0;
  const answer = await chat('go on', { account, conversationId: id });
  expect([textsOf(answer), refusing.requests]).toEqual([['without'], 1]);
});

it('learns nothing where every request is refused', async () => {
  const { refusing, say } = await refusedConversation();
  const taken = refuse('"model"');
  expect(await say('hello')).toMatchObject({ status: 'error' });
  taken.isStrict = false;
  refusing.isStrict = false;
  expect(textsOf(await say('hello'))).toEqual(['with']);
});

it('a trial that a person stops leaves nothing out of the next message', async () => {
  const account = newAccount();
  const model = holdModel();
  const pixel = 'data:image/png;base64,iVBORw0KGgo=';
  const content = [
    { type: 'text', text: 'look' },
    { type: 'image_url', image_url: { url: pixel } },
  ];
  const body = { messages: [{ role: 'user', content }], stream: true };
  const response = await call('chat/completions', { account, body });
  const reader = new SseReader(response);
  const refused = await model.next();
  refused.send(`data: ${JSON.stringify({ error: { message: 'No', code: 400 } })}\n\n`);
  refused.close();
  const trial = await model.next();
  expect(JSON.stringify(trial.request.messages)).not.toContain(pixel);
  await cancel(response.headers.get('drawbridge-response-id') ?? '', account);
  await reader.toEnd();
  const conversationId = response.headers.get('drawbridge-conversation-id') ?? '';
  const next = chat('again', { account, conversationId });
  const whole = await model.next();
  expect(JSON.stringify(whole.request.messages)).toContain(pixel);
  whole.answer({ text: 'Seen.' });
  expect(textsOf(await next)).toEqual(['Seen.']);
});
