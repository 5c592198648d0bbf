import { expect, it, vi } from 'vitest';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import { anthropicFrames, responseFrames } from '../../far-ends/native-events.ts';
import type { ScriptedRequest } from '../../far-ends/reply-script.ts';
import { streamOf } from '../../far-ends/reply-script.ts';
import { ask, call, chat, errorOf, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { configure } from '../settings.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

it('offers only the tools of a list of names or aliases', async () => {
  expect(await offered(['Read', 'grep'])).toEqual(['read_file', 'grep']);
});

it('offers the enabled tools of a registry', async () => {
  const registry = {
    codebase_search: { enabled: true, scope: 'workspace' },
    read_file: { enabled: true, allowedPaths: ['src/', 'tests/'] },
    edit_file: { enabled: true, requireApproval: true },
    run_terminal_cmd: { enabled: false },
    web_search: { enabled: true },
  };
  const wanted = ['read_file', 'codebase_search', 'web_search', 'edit_file'];
  expect(await offered(registry)).toEqual(wanted);
  expect(await offered({ availableTools: registry })).toEqual(wanted);
  expect(await offered(undefined, { availableTools: registry })).toEqual(wanted);
});

it('refuses tools beside availableTools', async () => {
  const both = { tools: ['grep'], availableTools: { read_file: {} } };
  expect(await errorOf(await ask('go', both))).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
    message: expect.stringMatching(/^availableTools: /),
  });
});

it('lists unavailable tools with the reason', async () => {
  scriptModel(() => ({ text: 'Ok.' }));
  const bridge = await connectBridge({ tools: ['read_file', 'write'] });
  const tools = ['read_file', 'write', 'Grep', 'TodoWrite'];
  const { bridgeId } = bridge;
  expect(await unavailable({ tools, bridgeId, mode: 'plan' })).toEqual({
    write: 'WRONG_MODE',
    grep: 'NOT_ON_BRIDGE',
    todo_write: 'WRONG_MODE',
  });
  const first = await chat('go', { tools: ['read_file'], bridgeId });
  expect(first.metadata).not.toHaveProperty('unavailableTools');
  await bridge.leave();
  await vi.waitFor(async () => {
    const { conversationId } = first;
    expect(await unavailable({ tools: ['read_file'], conversationId })).toEqual({
      read_file: 'BRIDGE_OFFLINE',
    });
  });
  expect(await unavailable({ tools: ['grep', 'ask_question'], account: 'bridgeless' })).toEqual({
    grep: 'NO_BRIDGE',
  });
});

it('says what a bridge without a search service needs for web_search', async () => {
  scriptModel(() => ({ text: 'Ok.' }));
  const { bridgeId } = await connectBridge({ tools: ['read_file', 'web_fetch'] });
  const { metadata } = await chat('go', {
    tools: ['WebSearch', 'WebFetch'],
    bridgeId,
    mode: 'ask',
  });
  const reason = expect.stringContaining('set "webSearch" in config.json');
  expect(metadata.unavailableTools).toEqual([
    { name: 'web_search', code: 'NOT_ON_BRIDGE', reason },
  ]);
});

it('lists unavailable tools from the start of a stream', async () => {
  scriptModel(() => ({ text: 'Ok.' }));
  const reader = new SseReader(
    await ask('go', { tools: ['grep'], account: 'bridgeless', stream: true }),
  );
  const events = (await reader.toEnd()).map(({ event }) => event);
  const listed = [{ name: 'grep', code: 'NO_BRIDGE', reason: expect.any(String) }];
  expect(events.find(({ type }) => type === 'response_start')).toMatchObject({
    response: { metadata: { unavailableTools: listed } },
  });
  expect(events.at(-1)).toMatchObject({ type: 'done', metadata: { unavailableTools: listed } });
});

async function unavailable(
  more: Parameters<typeof chat>[1],
): Promise<Record<string, string> | undefined> {
  const { metadata } = await chat('go', more);
  const { unavailableTools: listed } = metadata;
  return listed && Object.fromEntries(listed.map(({ name, code }) => [name, code]));
}

it('takes an empty list of tools', async () => {
  expect(await offered([])).toEqual([]);
});

it('sends the bridge the limits of a tool’s calls', async () => {
  const bridge = await connectBridge();
  const read = { name: 'Read', arguments: { path: 'src/a.ts' } };
  scriptModel((_, turn) => (turn === 0 ? { calls: [read] } : { text: 'Ok.' }));
  const limits = { allowedPaths: ['src'], requireApproval: true };
  const answer = chat('go', { bridgeId: bridge.bridgeId, tools: { read_file: limits } });
  const sent = await bridge.nextCall();
  expect(sent).toMatchObject({ tool: 'read_file', limits });
  bridge.succeed(sent.callId, 'text');
  expect(await answer).toMatchObject({ status: 'completed' });
});

it('refuses a path that is not allowed without asking the bridge', async () => {
  const bridge = await connectBridge();
  const read = { name: 'read_file', arguments: { target_file: 'src/../secret.ts' } };
  scriptModel((_, turn) => (turn === 0 ? { calls: [read] } : { text: 'Ok.' }));
  const tools = { read_file: { allowedPaths: ['src'] } };
  const { documents } = await chat('go', { bridgeId: bridge.bridgeId, tools });
  expect(documents[1]).toMatchObject({ metadata: { errorCode: 'PATH_NOT_ALLOWED' } });
  expect(bridge.frames.filter(({ type }) => type === 'call')).toEqual([]);
});

it.each<[string, unknown, string]>([
  ['a name that no tool has', ['format_disk'], 'tools.format_disk: There is no tool'],
  ['a setting that there is not', { grep: { enabled: 'yes' } }, 'tools.grep.enabled: '],
  ['a scope that there is not', { grep: { scope: 'machine' } }, 'tools.grep.scope: '],
  ['no path at all', { grep: { allowedPaths: [] } }, 'tools.grep.allowedPaths: '],
  ['a path out of the workspace', { grep: { allowedPaths: ['../x'] } }, 'allowedPaths[0]: '],
  ['paths for a command', { Shell: { allowedPaths: ['src'] } }, 'tools.Shell: '],
  ['a tool under two names', { Read: {}, read_file: {} }, 'tools.read_file: '],
  [
    'a question about a tool that no machine runs',
    { TodoWrite: { requireApproval: true } },
    'tools.TodoWrite: ',
  ],
  ['a registry of too many', registryOf(201, {}), 'tools: '],
  ['a registry of far too many that fit in no form', registryOf(100_000, 1), 'tools: '],
  ['too many in availableTools', { availableTools: registryOf(201, {}) }, 'tools: '],
  [
    'a limit under a name that it does not have',
    { grep: { allowedPath: ['src'] } },
    'tools.grep.allowedPath: ',
  ],
  ['something that is neither', 'grep', 'tools: '],
  ['too many', Array.from({ length: 201 }, () => 'grep'), 'tools: '],
])('refuses %s', async (_, tools, message) => {
  expect(await errorOf(await ask('go', { tools }))).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
    message: expect.stringContaining(message),
  });
});

function registryOf(count: number, settings: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [index, settings]));
}

async function offered(tools: unknown, more: object = {}): Promise<string[]> {
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const { bridgeId } = await connectBridge();
  await chat('go', { tools, bridgeId, ...more });
  return requests.at(-1)?.tools?.map((tool) => tool.function.name) ?? [];
}

it('sends temperature, maxTokens and user to the model server, and nothing by default', async () => {
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  await chat('go', { temperature: 0, maxTokens: 50, user: 'github|7' });
  expect(requests[0]).toMatchObject({ temperature: 0, max_tokens: 50, user: 'github|7' });
  await chat('go');
  for (const field of ['temperature', 'max_tokens', 'user']) {
    expect(requests[1]).not.toHaveProperty(field);
  }
});

it('sends topP, stop, seed and parallelToolCalls to the model server, and names what its API lacks', async () => {
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const fields = { topP: 0.5, stop: ['END'], seed: 7, parallelToolCalls: false };
  expect((await chat('go', fields)).metadata).not.toHaveProperty('adjusted');
  expect(requests[0]).toMatchObject({ top_p: 0.5, stop: ['END'], seed: 7 });
  const server = { baseUrl: 'http://model.test/v1', maxOutputTokens: 100 };
  const sent: Record<string, unknown>[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    sent.push(JSON.parse(String(init?.body)));
    const isClaude = String(url).endsWith('/messages');
    return streamOf(
      isClaude
        ? anthropicFrames([{ type: 'text', text: 'Ok.' }])
        : responseFrames([{ type: 'message', text: 'Ok.' }]),
    );
  });
  configure({
    MODELS: [
      { id: 'a', dialect: 'anthropic', ...server },
      { id: 'r', dialect: 'responses', ...server },
    ],
  });
  const first = await chat('go', { model: 'a', ...fields });
  expect(first.metadata.adjusted).toEqual(['seed']);
  expect(sent[0]).toMatchObject({ top_p: 0.5, stop_sequences: ['END'] });
  const second = await chat('go', { model: 'r', ...fields });
  expect(second.metadata.adjusted).toEqual(['stop', 'seed']);
  expect(sent[1]).toMatchObject({ top_p: 0.5 });
});

it('of several calls the first one counts where the request wants one at a time', async () => {
  const todo = (id: string) => ({
    name: 'todo_write',
    arguments: { merge: false, todos: [{ id, content: id, status: 'pending' }] },
  });
  const requests = scriptModel((_, turn) =>
    turn === 0 ? { calls: [todo('a'), todo('b')] } : { text: 'Ok.' },
  );
  const { documents } = await chat('go', { parallelToolCalls: false });
  expect(documents.map(({ type }) => type)).toEqual(['todo_update', 'text']);
  expect(requests[0]).toMatchObject({ parallel_tool_calls: false });
  const made = requests[1]?.messages.flatMap((message) => message.tool_calls ?? []);
  expect(made).toHaveLength(1);
});

it.each<[string, unknown]>([
  ['topP', 2],
  ['stop', []],
  ['seed', 0.5],
  ['parallelToolCalls', 'no'],
  ['temperature', 3],
  ['maxTokens', 0],
  ['user', ''],
])('refuses a bad %s', async (field, value) => {
  expect(await errorOf(await ask('go', { [field]: value }))).toMatchObject({
    status: 400,
    message: expect.stringContaining(`${field}: `),
  });
});

it('documents: "plain" puts metadata beside the id, and a result as its text', async () => {
  const bridge = await connectBridge();
  const read = { name: 'read_file', arguments: { target_file: 'a.ts' } };
  scriptModel((_, turn) => (turn === 0 ? { text: 'So:', calls: [read] } : { text: 'Ok.' }));
  const answer = chat('go', { bridgeId: bridge.bridgeId, documents: 'plain' });
  const { callId } = await bridge.nextCall();
  bridge.succeed(callId, 'text');
  expect((await answer).documents).toEqual([
    { id: 'doc_001', type: 'text', content: 'So:', format: 'markdown' },
    {
      id: 'doc_002',
      type: 'tool_call',
      toolName: 'read_file',
      toolCallId: callId,
      arguments: { target_file: 'a.ts' },
      result: 'text',
      status: 'success',
      duration_ms: expect.any(Number),
    },
    { id: 'doc_003', type: 'text', content: 'Ok.', format: 'markdown' },
  ]);
});

it('documents: "plain" takes only the framing data in a stream', async () => {
  scriptModel(() => ({ text: 'Ok.' }));
  const text = await (await ask('go', { documents: 'plain', stream: true })).text();
  expect(text).toContain('data: [DONE]');
  const stream_options = { framing: 'named' };
  const both = await ask('go', { documents: 'plain', stream: true, stream_options });
  expect(await errorOf(both)).toMatchObject({
    status: 400,
    message: expect.stringMatching(/^stream_options\.framing: /),
  });
});

it('an answer in one piece comes as waiting once every open call waits for a person', async () => {
  const bridge = await connectBridge();
  const run = (command: string) => ({ name: 'run_terminal_cmd', arguments: { command } });
  scriptModel((_, turn) =>
    turn === 0 ? { calls: [run('make'), run('test'), run('lint')] } : { text: 'Ok.' },
  );
  let isThere = false;
  const answer = chat('go', { bridgeId: bridge.bridgeId }).finally(() => {
    isThere = true;
  });
  const [make, test, lint] = [
    await bridge.nextCall(),
    await bridge.nextCall(),
    await bridge.nextCall(),
  ];
  bridge.ask(make.callId);
  const { conversationId } = make;
  await vi.waitFor(async () => {
    const view = await (await call(`conversations/${conversationId}`)).json();
    expect(view).toMatchObject({ responses: [{ status: 'waiting' }] });
  });
  expect(isThere).toBe(false);
  bridge.succeed(lint.callId, 'clean');
  bridge.ask(test.callId, { nonce: 'the-second-question' });
  const { status, documents } = await answer;
  expect(status).toBe('waiting');
  const asked = documents.filter(({ metadata }) => metadata['approval']);
  expect(asked.map(({ id }) => id)).toEqual(['doc_001', 'doc_002']);
});

it.each<[string, Record<string, unknown>, string]>([
  ['of the request', { toolz: ['grep'] }, 'toolz'],
  ['of the context', { context: { rulez: ['Never delete.'] } }, 'context.rulez'],
  ['of the framing', { stream_options: { frame: 'data' } }, 'stream_options.frame'],
  [
    'of a message',
    { messages: [{ role: 'user', content: 'go', attachments: [] }] },
    'messages[0].attachments',
  ],
])('refuses an unknown field %s with its path', async (_, fields, path) => {
  expect(await errorOf(await ask('go', fields))).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
    message: `${path}: There is no such field`,
    details: { issues: [{ path, message: 'There is no such field' }] },
  });
});

it('lists a bounded number of unknown fields', async () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1]));
  const { details } = await errorOf(await ask('go', many));
  expect(details).toMatchObject({ issues: { length: 20 } });
});

it.each<[string, string, object]>([
  ['a change of a message', 'chat/completions', { content: 'x', mode: 'ask' }],
  ['a change of a conversation', 'conversations', { title: 'x', pinned: true }],
])('refuses an unknown field in %s', async (_, path, body) => {
  scriptModel(() => ({ text: 'Ok.' }));
  const { id, conversationId } = await chat('go');
  const of = path === 'conversations' ? conversationId : id;
  const refused = await errorOf(await call(`${path}/${of}`, { method: 'PATCH', body }));
  expect(refused).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
});

const thinking = () =>
  streamOf([
    'data: {"choices":[{"delta":{"reasoning_content":"Let me think."}}]}\n\n',
    'data: {"choices":[{"delta":{"content":"42."},"finish_reason":"stop"}]}\n\n',
    'data: [DONE]\n\n',
  ]);

it('include: ["reasoning"] shows the reasoning as documents', async () => {
  scriptModel(thinking);
  const { documents } = await chat('go', { include: ['reasoning'] });
  expect(documents).toMatchObject([
    { id: 'doc_001', type: 'reasoning', content: 'Let me think.', metadata: { format: 'plain' } },
    { id: 'doc_002', type: 'text', content: '42.' },
  ]);
});

it('shows no reasoning without include: ["reasoning"]', async () => {
  scriptModel(thinking);
  expect((await chat('go')).documents).toMatchObject([{ type: 'text', content: '42.' }]);
});

it('include takes only reasoning', async () => {
  const error = await errorOf(await ask('go', { include: ['thoughts'] }));
  expect(error).toMatchObject({ status: 400, message: expect.stringMatching(/^include\[0\]: /) });
});

it('a repeated Idempotency-Key gets the first response, and asks the model once', async () => {
  const requests = scriptModel(() => ({ text: 'Once.' }));
  const key = crypto.randomUUID();
  const first = await keyed(key, 'go');
  expect(await keyed(key, 'go')).toEqual(first);
  const { conversationId } = first;
  const second = await keyed(`${key}-2`, 'on', { conversationId });
  expect(await keyed(`${key}-2`, 'on', { conversationId })).toEqual(second);
  expect(second.id).not.toBe(first.id);
  expect(requests).toHaveLength(2);
});

it('an Idempotency-Key holds for simultaneous requests', async () => {
  const requests = scriptModel(() => ({ text: 'Once.' }));
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const body = { messages: [{ role: 'user', content: 'go' }] };
  const [first, second] = await Promise.all(
    [1, 2].map(() => call('chat/completions', { body: { ...body, stream: true }, headers })),
  );
  const ids = [first, second].map((r) => r?.headers.get('drawbridge-response-id'));
  expect(new Set(ids).size).toBe(1);
  for (const response of [first, second]) {
    if (response) await new SseReader(response).toEnd();
  }
  expect(requests).toHaveLength(1);
});

it('a repeated Idempotency-Key can ask for another form of the response', async () => {
  const requests = scriptModel(() => ({ text: 'Once.' }));
  const key = crypto.randomUUID();
  const first = await keyed(key, 'go');
  const body = { messages: [{ role: 'user', content: 'go' }], stream: true };
  const headers = { 'idempotency-key': key };
  const again = await call('chat/completions', { body, headers });
  expect(again.headers.get('drawbridge-response-id')).toBe(first.id);
  await new SseReader(again).toEnd();
  expect(requests).toHaveLength(1);
});

it('an Idempotency-Key belongs to its account', async () => {
  scriptModel(() => ({ text: 'Ok.' }));
  const key = crypto.randomUUID();
  const mine = await keyed(key, 'go');
  const body = { messages: [{ role: 'user', content: 'go' }] };
  const headers = { 'idempotency-key': key };
  const theirs = await call('chat/completions', { body, headers, account: 'eve' });
  expect(((await theirs.json()) as ChatResponse).conversationId).not.toBe(mine.conversationId);
});

it('refuses an Idempotency-Key for another request, and a malformed one', async () => {
  scriptModel(() => ({ text: 'Ok.' }));
  const key = crypto.randomUUID();
  await keyed(key, 'go');
  const headers = { 'idempotency-key': key };
  const body = { messages: [{ role: 'user', content: 'something else' }] };
  const other = await errorOf(await call('chat/completions', { body, headers }));
  expect(other).toMatchObject({ status: 422, code: 'IDEMPOTENCY_CONFLICT' });
  const spaced = { 'idempotency-key': 'a b' };
  const bad = await errorOf(await call('chat/completions', { body, headers: spaced }));
  expect(bad).toMatchObject({ status: 400, message: expect.stringContaining('Idempotency-Key') });
});

async function keyed(key: string, content: string, more: object = {}): Promise<ChatResponse> {
  const body = { messages: [{ role: 'user', content }], ...more };
  const headers = { 'idempotency-key': key };
  return await (await call('chat/completions', { body, headers })).json();
}

it('editOf sends an edited message again, in a conversation that forks before it', async () => {
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const first = await chat('One.');
  const { conversationId } = first;
  const second = await chat('Two.', { conversationId });
  const edited = await chat('Two, but better.', { editOf: second.id });
  expect(edited.conversationId).not.toBe(conversationId);
  expect(queriesIn(requests.at(-1))).toEqual(['One.', 'Two, but better.']);
  const view = await (await call(`conversations/${edited.conversationId}`)).json();
  expect(view).toMatchObject({
    title: 'One.',
    messages: [{ content: 'One.' }, { content: 'Two, but better.' }],
  });
  const old = await (await call(`conversations/${conversationId}`)).json();
  expect(old).toMatchObject({ messages: [{ content: 'One.' }, { content: 'Two.' }] });
});

it('editOf of the first message takes the new message’s title', async () => {
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const first = await chat('One.');
  const edited = await chat('Uno.', { editOf: first.id });
  expect(queriesIn(requests.at(-1))).toEqual(['Uno.']);
  const { conversationId } = edited;
  expect(await (await call(`conversations/${conversationId}`)).json()).toMatchObject({
    title: 'Uno.',
  });
});

it('editOf works once for a request that is repeated with its key', async () => {
  scriptModel(() => ({ text: 'Ok.' }));
  const first = await chat('One.');
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const body = { messages: [{ role: 'user', content: 'Uno.' }], editOf: first.id };
  const edit = async () => await (await call('chat/completions', { body, headers })).json();
  expect(await edit()).toEqual(await edit());
});

it('editOf takes no other place, and no response of another account', async () => {
  scriptModel(() => ({ text: 'Ok.' }));
  const { id: editOf, conversationId } = await chat('One.');
  const both = await errorOf(await ask('Uno.', { editOf, conversationId }));
  expect(both).toMatchObject({
    status: 400,
    message: expect.stringMatching(/^conversationId: /),
  });
  const body = { messages: [{ role: 'user', content: 'Uno.' }], editOf };
  const foreign = await errorOf(await call('chat/completions', { body, account: 'eve' }));
  expect(foreign).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  const unknown = 'chat_11111111-1111-4111-8111-111111110001';
  expect(await errorOf(await ask('Uno.', { editOf: unknown }))).toMatchObject({ status: 404 });
});

function queriesIn(request: ScriptedRequest | undefined): string[] {
  const asked = request?.messages.filter(({ role }) => role === 'user') ?? [];
  return asked.map(({ content }) => /<user_query>\n(.*)\n</.exec(String(content))?.[1] ?? '');
}

const image = { type: 'image_url', image_url: { url: PIXEL, detail: 'low' } };
const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }];

it('sends images to the model after the text, and keeps them in the conversation', async () => {
  const requests = scriptModel(() => ({ text: 'A pixel.' }));
  const response = await (await call('chat/completions', { body: { messages } })).json();
  const { conversationId } = response as ChatResponse;
  const content = [{ type: 'text', text: expect.stringContaining('What is it?') }, image];
  expect(requests[0]?.messages.at(-1)).toEqual({ role: 'user', content });
  await chat('Sure?', { conversationId });
  expect(requests[1]?.messages[1]).toEqual({ role: 'user', content });
  const view = await (await call(`conversations/${conversationId}`)).json();
  expect(view).toMatchObject({ messages: [{ content: 'What is it?', imageCount: 1 }, {}] });
});

it('refuses images for a model that takes none, and leaves them out for a later one', async () => {
  const error = await errorOf(
    await call('chat/completions', { body: { messages, model: 'blind' } }),
  );
  expect(error).toMatchObject({ status: 400, code: 'IMAGES_NOT_SUPPORTED' });
  const requests = scriptModel(() => ({ text: 'A pixel.' }));
  const seen = (await (
    await call('chat/completions', { body: { messages } })
  ).json()) as ChatResponse;
  await chat('Sure?', { conversationId: seen.conversationId, model: 'blind' });
  expect(requests[1]?.messages[1]?.content).toContain('[1 image(s), left out');
});

it('a conversation goes on after the model server refused an image', async () => {
  const refusal = { error: { message: 'image_url is not supported' } };
  const requests = scriptModel((_, turn) =>
    turn === 0 ? Response.json(refusal, { status: 400 }) : { text: 'Fine.' },
  );
  const failed = (await (
    await call('chat/completions', { body: { messages } })
  ).json()) as ChatResponse;
  expect(failed.documents.at(-1)).toMatchObject({
    type: 'error',
    metadata: { details: 'image_url is not supported' },
  });
  const next = await chat('Then without.', { conversationId: failed.conversationId });
  expect(next.status).toBe('completed');
  expect(JSON.stringify(requests[1]?.messages)).not.toContain(PIXEL);
});

it.each<[string, object]>([
  ['a file', { url: 'file:///etc/passwd' }],
  ['plain http', { url: 'http://images.test/a.png' }],
  ['another kind of data', { url: 'data:text/html;base64,aGk=' }],
  ['a detail that there is not', { url: PIXEL, detail: 'ultra' }],
])('takes no image that is %s', async (_, image_url) => {
  const content = [{ type: 'image_url', image_url }];
  const error = await errorOf(
    await call('chat/completions', { body: { messages: [{ role: 'user', content }] } }),
  );
  expect(error).toMatchObject({
    status: 400,
    message: expect.stringMatching(/^messages\[0\]\.content\[0\]\.image_url\./),
  });
});

it('takes images from the user only', async () => {
  const said = { role: 'assistant', content: [image] };
  const body = { messages: [said, { role: 'user', content: 'x' }] };
  expect(await errorOf(await call('chat/completions', { body }))).toMatchObject({
    status: 400,
    message: expect.stringContaining('messages[0].content: '),
  });
});
