import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient, createDevice, dropEarlier, prependPart } from '../../client/index.ts';
import { ConversationView } from '../../shared/wire/documents.ts';
import { foldConversation } from '../../shared/wire/fold.ts';
import { CALL_ID, CONVERSATION_ID, QUESTION, RESPONSE_ID, SAMPLE_TAPE } from './sample-tape.ts';
import { eventsAfter, startScriptedApi, streamText } from './scripted-api.ts';
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
      name: 'closePort',
      line: 'POST bridges/bridge_1/processes/proc_1/ports',
      body: { port: 3000 },
      answer: { id: 'proc_1', command: 'serve', running: true },
      call: (client: Client) => client.closePort('bridge_1', 'proc_1', 3000),
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
      name: 'forkConversation with its files',
      line: `POST conversations/${CONVERSATION_ID}/forks`,
      body: { responseId: RESPONSE_ID, files: 'restore', digest: 'd1' },
      answer: { conversationId: CONVERSATION_ID, responseId: RESPONSE_ID },
      call: (client: Client) =>
        client.forkConversation(CONVERSATION_ID, RESPONSE_ID, { files: 'restore', digest: 'd1' }),
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

  it('allows a call with a signature of the device, and rejects one without', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const line = `POST conversations/${CONVERSATION_ID}/approvals/${CALL_ID}`;
    api.answers.set(line, { callId: CALL_ID, decision: 'once' });
    const client = createClient({ url: api.url, token: 'token' });
    const { device } = await createDevice('Phone');
    await client.allowCall(QUESTION, device, { content: 'new text' });
    const lasting = { scope: 'always', pattern: 'npm *' } as const;
    await client.allowCall(QUESTION, device, lasting);
    await client.rejectCall(QUESTION, { message: 'Not now' });
    const { nonce } = QUESTION;
    const signature = { deviceId: device.deviceId, value: expect.any(String) };
    expect(api.requests).toEqual([
      { line, body: { nonce, decision: 'once', content: 'new text', signature } },
      { line, body: { nonce, decision: 'once', ...lasting, signature } },
      { line, body: { nonce, decision: 'reject', message: 'Not now' } },
    ]);
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
    ...[302, 401, 403, 404].map((status) => ({
      name: `a ${status} of another server`,
      status,
      body: '<html>No</html>',
      error: {
        code: 'WRONG_ADDRESS',
        status,
        message: `No Drawbridge answers at http://x (status ${status}): check the address`,
      },
    })),
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

describe('a token from a function', () => {
  const VALID = 'token';

  it('is asked for with each request and renewed once it is refused', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.answers.set('GET me', { account: 'a', scope: 'user' });
    let kept = 'old';
    const asked: (string | undefined)[] = [];
    const token = async (refused: string | undefined) => {
      asked.push(refused);
      if (refused === kept) kept = VALID;
      return kept;
    };
    const client = createClient({ url: api.url, token }, createTestClock());
    expect(await client.getMe()).toEqual({ account: 'a', scope: 'user' });
    await client.getMe();
    expect(asked).toEqual([undefined, 'old', undefined]);
    expect(api.requests).toHaveLength(3);
  });

  it('is not sent again if it stays the same', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const client = createClient({ url: api.url, token: () => 'old' });
    await expect(client.getMe()).rejects.toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    expect(api.requests).toHaveLength(1);
  });

  it('renews it for a stream that returns', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const tokens = [VALID, 'expired', VALID];
    const token = () => tokens.shift() ?? VALID;
    api.fates.push({ type: 'text', text: streamText(eventsAfter(SAMPLE_TAPE, 0).slice(0, 3)) });
    const client = createClient({ url: api.url, token }, createTestClock());
    const types: string[] = [];
    for await (const { event } of client.streamChat(HELLO)) types.push(event.type);
    expect(types.at(-1)).toBe('done');
    expect(tokens).toEqual([]);
  });

  it('leaves a request at its signal', async () => {
    const reason = new Error('The tab was closed');
    const never = new Promise<string>(() => undefined);
    const client = createClient({ url: 'http://x', token: () => never });
    await expect(client.getMe(AbortSignal.abort(reason))).rejects.toBe(reason);
    const leaving = new AbortController();
    const asking = client.getMe(leaving.signal);
    leaving.abort(reason);
    await expect(asking).rejects.toBe(reason);
  });
});

describe('a conversation', () => {
  it('is watched: read once, then changed by each event', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const empty = { ...VIEW, messages: [], responses: [], position: 0 };
    api.answers.set(`GET conversations/${CONVERSATION_ID}?limit=2`, empty);
    const client = createClient({ url: api.url, token: 'token' }, createTestClock());
    const seen: (string | undefined)[] = [];
    for await (const { view, event } of client.watchConversation(CONVERSATION_ID, { limit: 2 })) {
      seen.push(event?.type);
      if (event?.type !== 'done') continue;
      expect(view.responses).toMatchObject([{ status: 'completed', documents: [{}, {}] }]);
      break;
    }
    expect(seen.slice(0, 3)).toEqual([undefined, 'message', 'response_start']);
    expect(seen.at(-1)).toBe('done');
  });

  it('is watched although the server restarts as it is read', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    api.answers.set(`GET conversations/${CONVERSATION_ID}`, { ...VIEW, position: 0 });
    let tries = 0;
    const restarting: typeof fetch = async (input, init) => {
      tries += 1;
      if (tries === 1) throw new TypeError('connection refused');
      if (tries === 2) return new Response('Bad gateway', { status: 502 });
      return await fetch(input, init);
    };
    const clock = createTestClock();
    const client = createClient({ url: api.url, token: 'token', fetch: restarting }, clock);
    const errors: unknown[] = [];
    const onReconnect = (error: unknown) => errors.push(error);
    for await (const { event } of client.watchConversation(CONVERSATION_ID, { onReconnect })) {
      if (event?.type === 'done') break;
    }
    expect(errors).toMatchObject([{ code: 'UNREACHABLE' }, { code: 'BAD_ANSWER', status: 502 }]);
    expect(clock.waitsMs).toEqual([100, 200]);
  });

  it('that is not there is not watched', async () => {
    const body = { error: { code: 'NOT_FOUND', message: 'There is no such conversation' } };
    const answer = async () => Response.json(body, { status: 404 });
    const client = createClient({ url: 'http://x', token: 'token', fetch: answer });
    const watched = client.watchConversation(CONVERSATION_ID);
    await expect(watched.next()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('grows by its earlier part', () => {
    const view = { ...VIEW, earlier: RESPONSE_ID, responses: [{ ...RESPONSE, id: 'chat_2' }] };
    const earlier = { ...VIEW, responses: [{ ...RESPONSE, id: 'chat_1' }] };
    const whole = ConversationView.parse(VIEW);
    const merged = structuredClone({ ...whole, ...view } as ConversationView);
    prependPart(merged, { ...whole, ...earlier } as ConversationView);
    expect(merged.responses.map(({ id }) => id)).toEqual(['chat_1', 'chat_2']);
    expect(merged.earlier).toBeNull();
  });

  it('lets go of its oldest part, which can be read again', () => {
    const ids = ['chat_1', 'chat_2', 'chat_3', 'chat_4'];
    const view = {
      ...ConversationView.parse(VIEW),
      messages: ids.map((responseId) => ({ responseId, content: 'x', created: VIEW.created })),
      responses: ids.map((id) => ({ ...RESPONSE, id })),
    } as ConversationView;
    dropEarlier(view, 2);
    expect(view.responses.map(({ id }) => id)).toEqual(['chat_3', 'chat_4']);
    expect(view.messages.map(({ responseId }) => responseId)).toEqual(['chat_3', 'chat_4']);
    expect(view.earlier).toBe('chat_3');
    dropEarlier(view, 2);
    expect(view.responses).toHaveLength(2);
  });

  it('gets a message without its answer being followed', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const client = createClient({ url: api.url, token: 'token' });
    const steering = { ...HELLO, conversationId: CONVERSATION_ID, delivery: 'steer' as const };
    const sent = await client.sendMessage(steering);
    expect(sent).toEqual({ conversationId: CONVERSATION_ID, responseId: RESPONSE_ID });
    expect(api.requests).toEqual([
      { line: 'POST chat/completions', body: { ...steering, stream: true } },
    ]);
  });

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

describe('a page of another origin than the server', () => {
  const APP = 'https://app.test';

  /** A browser: where a server lists no such origin, a page may send a request, but not read its answer. */
  const browser = (isThere: boolean) => {
    const asked: string[] = [];
    const fetch = async (
      url: string | URL | Request,
      { mode = 'cors' }: { mode?: string } = {},
    ) => {
      asked.push(`${mode} ${String(url)}`);
      if (isThere && mode === 'no-cors') return new Response();
      throw new TypeError('Failed to fetch');
    };
    return { asked, fetch };
  };
  const getMe = async (url: string, fetch: typeof globalThis.fetch) =>
    await createClient({ url, token: 'token', fetch }).getMe();
  const openPage = (origin: string) => {
    vi.stubGlobal('location', { origin });
    onTestFinished(() => void vi.unstubAllGlobals());
  };

  it.each([
    ['https://api.test', APP],
    ['http://localhost:8787', 'http://localhost'],
  ])('learns that %s answers, but does not list %s', async (url, origin) => {
    openPage(origin);
    await expect(getMe(url, browser(true).fetch)).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: `Drawbridge at ${url} answers, but its ALLOWED_ORIGINS lacks ${origin}`,
    });
  });

  it('learns that a server does not answer', async () => {
    openPage(APP);
    const message = 'Drawbridge cannot be reached at https://api.test';
    await expect(getMe('https://api.test', browser(false).fetch)).rejects.toThrow(message);
  });

  it.each([
    ...['http://localhost:8787', 'http://127.0.0.1:8787/', 'http://[::1]:8787', 'http://10.1.2.3'],
    ...['http://172.31.0.9:1', 'https://192.168.0.2', 'http://[fd00::1]', 'http://nas.local:8787'],
  ])('learns that the browser may want a permission for %s', async (url) => {
    openPage(APP);
    const hint = ', or this page lacks the browser’s permission “Local Network Access”';
    await expect(getMe(url, browser(false).fetch)).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: `Drawbridge cannot be reached at ${url}${hint}`,
    });
    openPage(new URL(url).origin);
    await expect(getMe(url, browser(false).fetch)).rejects.not.toThrow('permission');
  });

  it.each(['https://10.example.com', 'https://172.32.0.1', 'https://localhost.example.com'])(
    'reads of no permission for %s',
    async (url) => {
      openPage(APP);
      const message = `Drawbridge cannot be reached at ${url}`;
      await expect(getMe(url, browser(false).fetch)).rejects.toMatchObject({ message });
    },
  );

  it('asks nothing more where it has the origin of the server, and outside of browsers', async () => {
    const { asked, fetch } = browser(true);
    await expect(getMe('https://api.test', fetch)).rejects.toThrow('cannot be reached');
    openPage('https://api.test');
    await expect(getMe('https://api.test', fetch)).rejects.toThrow('cannot be reached');
    expect(asked).toEqual(new Array(2).fill('cors https://api.test/api/v1/me'));
  });
});
