import { describe, expect, it } from 'vitest';
import { createClient } from '../../client/client.ts';
import { foldConversation } from '../../shared/fold.ts';
import { CALL_ID, CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from './sample-tape.ts';
import { startScriptedApi } from './scripted-api.ts';
import { createTestClock } from './test-clock.ts';

const HELLO = { messages: [{ role: 'user' as const, content: 'Hi' }] };
const RESPONSE = {
  id: RESPONSE_ID,
  conversationId: CONVERSATION_ID,
  model: 'demo',
  mode: 'agent',
  created: '2026-11-20T12:00:00Z',
  status: 'completed',
  documents: [],
  usage: null,
  metadata: { duration_ms: 1, toolCallCount: 0, turnCount: 1 },
};
const VIEW = {
  id: CONVERSATION_ID,
  title: 'Hé 👋',
  archived: false,
  created: '2026-11-20T12:00:00Z',
  bridgeId: null,
  messages: [],
  responses: [RESPONSE],
  earlier: null,
  position: 12,
};
const { earlier: _, position: __, ...WHOLE } = VIEW;

const INFO = {
  id: CONVERSATION_ID,
  title: 'Hé 👋',
  archived: false,
  created: '2026-11-20T12:00:00Z',
  updated: '2026-11-20T12:01:00Z',
};

describe('a request', () => {
  it.each([
    {
      name: 'chat',
      line: 'POST chat/completions',
      body: { ...HELLO, stream: false },
      answer: RESPONSE,
      call: (client: Client) => client.chat(HELLO),
    },
    {
      name: 'getResponse',
      line: `GET chat/completions/${RESPONSE_ID}`,
      answer: RESPONSE,
      call: (client: Client) => client.getResponse(RESPONSE_ID),
    },
    {
      name: 'getConversation',
      line: `GET conversations/${CONVERSATION_ID}`,
      answer: VIEW,
      call: (client: Client) => client.getConversation(CONVERSATION_ID),
    },
    {
      name: 'getConversation, a part of it',
      line: `GET conversations/${CONVERSATION_ID}?before=${RESPONSE_ID}&limit=3`,
      answer: VIEW,
      call: (client: Client) =>
        client.getConversation(CONVERSATION_ID, { before: RESPONSE_ID, limit: 3 }),
    },
    {
      name: 'getRules',
      line: `GET conversations/${CONVERSATION_ID}/rules`,
      answer: { responseId: RESPONSE_ID, isKnown: true, rules: [], leftOut: [] },
      call: (client: Client) => client.getRules(CONVERSATION_ID),
    },
    {
      name: 'cancel',
      line: `POST chat/completions/${RESPONSE_ID}/cancel`,
      answer: { id: RESPONSE_ID, status: 'cancelled' },
      call: (client: Client) => client.cancel(RESPONSE_ID),
    },
    {
      name: 'listConversations',
      line: 'GET conversations?search=a+b&limit=5&archived=true',
      answer: { items: [INFO], nextCursor: 'next' },
      call: (client: Client) =>
        client.listConversations({ search: 'a b', limit: 5, archived: true, cursor: undefined }),
    },
    {
      name: 'listUsage',
      line: 'GET me/usage?from=2026-11-01',
      answer: { from: '2026-11-01', to: '2026-11-30', items: [], nextCursor: null },
      call: (client: Client) => client.listUsage({ from: '2026-11-01', to: undefined }),
    },
    {
      name: 'updateConversation',
      line: `PATCH conversations/${CONVERSATION_ID}`,
      body: { title: 'New' },
      answer: INFO,
      call: (client: Client) => client.updateConversation(CONVERSATION_ID, { title: 'New' }),
    },
    {
      name: 'forkConversation',
      line: `POST conversations/${CONVERSATION_ID}/forks`,
      body: { responseId: RESPONSE_ID },
      answer: { conversationId: CONVERSATION_ID },
      call: (client: Client) => client.forkConversation(CONVERSATION_ID, RESPONSE_ID),
    },
    {
      name: 'exportConversation',
      line: `GET conversations/${CONVERSATION_ID}/export`,
      answer: { version: 1, exported: '2026-11-20T12:00:00Z', conversation: WHOLE },
      call: (client: Client) => client.exportConversation(CONVERSATION_ID),
    },
    {
      name: 'createTicket',
      line: 'POST tickets',
      body: { responseId: RESPONSE_ID },
      answer: { ticket: 'x.y.z', expires: '2026-11-20T12:00:00Z' },
      call: (client: Client) => client.createTicket({ responseId: RESPONSE_ID }),
    },
  ])('$name is $line and resolves to its checked answer', async ({ line, body, answer, call }) => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.answers.set(line, answer);
    expect(await call(createClient({ url: `${api.url}/`, token: 'token' }))).toEqual(answer);
    expect(api.requests).toEqual([{ line, ...(body && { body }) }]);
  });

  it('answers an approval at its call', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const line = `POST conversations/${CONVERSATION_ID}/approvals/${CALL_ID}`;
    api.answers.set(line, { callId: CALL_ID, decision: 'reject' });
    const body = { nonce: 'n-1', decision: 'reject' as const, message: 'Not now' };
    const client = createClient({ url: api.url, token: 'token' });
    await client.answerApproval(CONVERSATION_ID, CALL_ID, body);
    expect(api.requests).toEqual([{ line, body }]);
  });

  it('answers a question at its document', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const line = `POST conversations/${CONVERSATION_ID}/clarifications/doc_001`;
    api.answers.set(line, { documentId: 'doc_001' });
    const body = { answers: [{ questionId: 'q1', optionIds: ['a'] }] };
    const client = createClient({ url: api.url, token: 'token' });
    await client.answerClarification(CONVERSATION_ID, 'doc_001', body);
    expect(api.requests).toEqual([{ line, body }]);
  });

  it('names itself by its idempotency key', async () => {
    let headers = new Headers();
    const fetch: typeof globalThis.fetch = async (_, init) => {
      headers = new Headers(init?.headers);
      return Response.json(RESPONSE);
    };
    const client = createClient({ url: 'http://x', token: 'token', fetch });
    await client.chat(HELLO, { idempotencyKey: 'once' });
    expect(headers.get('idempotency-key')).toBe('once');
  });

  it.each([
    {
      name: 'a refusal of the API',
      status: 409,
      body: { error: { code: 'CONVERSATION_BUSY', message: 'Busy', details: { since: 1 } } },
      error: { code: 'CONVERSATION_BUSY', message: 'Busy', status: 409, details: { since: 1 } },
    },
    {
      name: 'an error of something in between',
      status: 502,
      body: 'Bad gateway',
      error: { code: 'BAD_ANSWER', status: 502 },
    },
    {
      name: 'a success that is not ours',
      status: 200,
      body: { hello: 'world' },
      error: { code: 'BAD_ANSWER', status: undefined },
    },
  ])('$name becomes a ClientError', async ({ status, body, error }) => {
    const fetch = async () => Response.json(body, { status });
    const client = createClient({ url: 'http://x', token: 'token', fetch });
    const expected = { name: 'ClientError', ...error };
    await expect(client.chat(HELLO)).rejects.toMatchObject(expected);
  });

  it('says that the server cannot be reached, and keeps the cause', async () => {
    const cause = new TypeError('fetch failed');
    const fetch = () => Promise.reject(cause);
    const client = createClient({ url: 'http://nowhere', token: 'token', fetch });
    await expect(client.chat(HELLO)).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: 'Drawbridge cannot be reached at http://nowhere',
      cause,
    });
  });

  it('is never sent twice, whatever happens to it', async () => {
    let sent = 0;
    const fetch = async () => {
      sent += 1;
      return new Response('', { status: 503 });
    };
    const client = createClient({ url: 'http://x', token: 'token', fetch }, createTestClock());
    await expect(client.streamChat(HELLO).next()).rejects.toMatchObject({ status: 503 });
    expect(sent).toBe(1);
  });
});

describe('a conversation', () => {
  it('is followed past the end of a response, over recycled connections', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    const view = { ...VIEW, messages: [], responses: [] };
    for await (const { event } of client.followConversation(CONVERSATION_ID)) {
      foldConversation(view, event);
    }
    expect(view).toMatchObject({
      messages: [{ content: 'Hé 👋' }],
      responses: [{ id: RESPONSE_ID, status: 'completed', documents: [{}, {}] }],
    });
    expect(api.requests.map(({ line }) => line)).toEqual([
      `GET conversations/${CONVERSATION_ID}/events`,
      expect.stringMatching(/events\?after=\d+$/),
    ]);
  });
});

type Client = ReturnType<typeof createClient>;
