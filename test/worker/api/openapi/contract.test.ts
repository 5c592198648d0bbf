import { env } from 'cloudflare:workers';
import { beforeAll, expect, it, vi } from 'vitest';
import { newEnrolmentRequest } from '../../../../client/enrolment.ts';
import {
  beginLogin,
  createDevice,
  enter,
  loginText,
  newSessionKey,
  sessionTokens,
} from '../../../../client/index.ts';
import {
  newBridgeId,
  newConversationId,
  newDeviceId,
  responseIdOf,
} from '../../../../shared/ids.ts';
import { documentTypes } from '../../../../shared/wire/document-types.ts';
import { newPasskey, PASSKEY_ORIGIN } from '../../../far-ends/passkey.ts';
import { call, scriptModel, standsAt, tokenFor } from '../../api.ts';
import { holdModel } from '../../conversation/held-model.ts';
import { followersOf } from '../../follow/watching.ts';
import { newBrowser } from '../../push/push-service.ts';
import {
  connectBridge,
  NO_POLICY,
  NONCE,
  openBridge,
  type ScriptedBridge,
  WRONG_SIGNATURE,
} from '../../tunnel/scripted-bridge.ts';
import { type DocumentedApi, openDocumentedApi } from './documented-api.ts';

const ACCOUNT = `ada-${crypto.randomUUID()}`;
const messages = [{ role: 'user', content: 'go' }];

const MCP_SERVER = {
  name: 'notes',
  state: 'ready',
  about: 'notes 1',
  toolCount: 3,
  resources: [{ uri: 'note://1', name: 'a note' }],
  resourceCount: 1,
  prompts: [{ name: 'greet', title: 'Greet' }],
  promptCount: 1,
};

let api: DocumentedApi;

beforeAll(async () => {
  api = await openDocumentedApi(ACCOUNT);
});
/** The types that this response lacks: a `clarification` would wait for a person, `reasoning` is not asked for. */
const LACKING = ['clarification', 'reasoning'];

it('a response with nearly every type of document', async () => {
  const bridge = await connectBridge({ account: ACCOUNT });
  const serving = serve(bridge, 4);
  scriptModel((_, turn) => TURNS[turn] ?? { text: 'Done.' });
  const body = { messages, bridgeId: bridge.bridgeId, device: 'laptop' };
  const { json } = await api.call('createResponse', { body });
  await serving;
  const { id, conversationId, documents } = Object(json);
  const types = new Set(documents.map(({ type }: { type: string }) => type));
  expect([...types, ...LACKING].sort()).toEqual(documentTypes.toSorted());
  expect((await api.call('getResponse', { params: { id } })).json).toEqual(json);
  expect((await api.call('getImages', { params: { id } })).json).toEqual({ items: [] });
  for (const framing of ['named', 'data']) {
    const { events } = await api.call('followResponse', { params: { id }, query: { framing } });
    expect(events.at(-1)).toMatchObject({ type: 'done', responseId: id });
  }
  const params = { id: conversationId };
  await api.call('getConversation', { params });
  await api.call('getConversation', { params, query: { limit: '1', before: id } });
  await api.call('getRules', { params });
  await api.call('followConversation', { params });
  await api.call('exportConversation', { params });
  await api.call('exportConversation', { params, query: { format: 'markdown' } });
  await api.call('listUsage', { query: { limit: '1' } });
  await api.call('listConversations', { query: { search: 'go', limit: '1' } });
  await api.call('listConversations', { query: { bridgeId: bridge.bridgeId } });
  await api.call('listBridges');
  bridge.send({ type: 'mcp_servers', servers: [MCP_SERVER] });
  await vi.waitFor(async () => {
    const found = await api.call('getBridge', { params: { id: bridge.bridgeId } });
    expect(Object(found.json)).toMatchObject({ mcpServers: [MCP_SERVER] });
  });
});

it('lists and stops what runs in the background of a bridge', async () => {
  const bridge = await connectBridge({ account: ACCOUNT });
  const started = new Date().toISOString();
  const process = {
    id: 'proc_1',
    conversationId: 'conv_1',
    command: 'serve',
    folder: '.',
    started,
  };
  bridge.processes = [{ ...process, running: true }];
  const params = { id: bridge.bridgeId };
  const { json } = await api.call('listProcesses', { params });
  expect(json).toEqual({ items: bridge.processes });
  const stopped = await api.call('stopProcess', { params: { ...params, processId: 'proc_1' } });
  expect(stopped.json).toEqual({ ...process, running: false });
  const port = { params: { ...params, processId: 'proc_1' } };
  const signature = { deviceId: `device_${crypto.randomUUID()}`, value: 'c2lnbmVk' };
  const grant = { nonce: 'n', signature };
  const opened = await api.call('changePort', { ...port, body: { port: 3000, grant } });
  const ports = [{ port: 3000, address: 'http://127.0.0.1:4711' }];
  expect(opened.json).toEqual({ ...process, running: true, ports });
  const closed = await api.call('changePort', { ...port, body: { port: 3000 } });
  expect(closed.json).toEqual({ ...process, running: true });
  const wrong = { nonce: 'n', signature: { ...signature, value: WRONG_SIGNATURE } };
  const refused = await api.call('changePort', { ...port, body: { port: 3000, grant: wrong } });
  expect(refused.json).toMatchObject({
    error: { code: 'APPROVAL_REFUSED', message: 'No device has signed it.' },
  });
  const missing = { ...params, processId: 'proc_2' };
  expect((await api.call('stopProcess', { params: missing })).status).toBe(404);
  const older = await connectBridge({ account: ACCOUNT, tools: ['run_terminal_cmd'] });
  const offline = await api.call('listProcesses', { params: { id: older.bridgeId } });
  expect(offline.status).toBe(503);
});

it('lets a bridge move', async () => {
  const { bridgeId: id } = await connectBridge({ account: ACCOUNT });
  const { publicKey: key } = await newSessionKey();
  expect((await api.call('allowMove', { params: { id }, body: { key } })).status).toBe(204);
});

it('enrols a device at a bridge', async () => {
  const bridge = await openBridge({ account: ACCOUNT });
  await bridge.greet();
  const enrolment = { bridgeId: bridge.bridgeId, secret: 's'.repeat(43) };
  const body = await newEnrolmentRequest(enrolment, (await createDevice('phone')).enrolment);
  const params = { id: bridge.bridgeId };
  expect((await api.call('enrolDevice', { params, body })).status).toBe(204);
  for (const [outcome, status] of [
    ['ended', 410],
    ['failed', 503],
  ] as const) {
    bridge.enrols = outcome;
    expect((await api.call('enrolDevice', { params, body })).status).toBe(status);
  }
});

it('finds files of a bridge', async () => {
  const bridge = await openBridge({ account: ACCOUNT });
  await bridge.greet();
  bridge.files = [{ path: 'src/', type: 'folder' }];
  const params = { id: bridge.bridgeId };
  const { json } = await api.call('findFiles', { params, query: { query: 'sr', limit: '5' } });
  expect(json).toEqual({ items: bridge.files });
  await bridge.leave();
  expect((await api.call('findFiles', { params })).status).toBe(503);
});

it('shows what a machine allows', async () => {
  const bridge = await openBridge({ account: ACCOUNT });
  await bridge.greet();
  const params = { id: bridge.bridgeId };
  expect((await api.call('getPolicy', { params })).json).toEqual(NO_POLICY);
  await bridge.leave();
  expect((await api.call('getPolicy', { params })).status).toBe(503);
});

it('streams', async () => {
  scriptModel(() => ({ text: 'Hello.' }));
  for (const framing of ['named', 'data']) {
    const body = { messages, stream: true, stream_options: { framing } };
    for (const operation of ['createResponse', 'createPlan']) {
      const { events, headers } = await api.call(operation, { body });
      expect(events.at(-1)).toMatchObject({ type: 'done', status: 'completed' });
      const id = headers.get('drawbridge-response-id') ?? '';
      const cursor = await lastPosition(id);
      await api.call('followResponse', { params: { id }, query: { after: cursor } });
    }
  }
});

it('follows over a WebSocket', async () => {
  scriptModel(() => ({ text: 'Hello.' }));
  const { json } = await api.call('createResponse', { body: { messages } });
  const { id, conversationId } = Object(json);
  const headers = { upgrade: 'websocket' };
  for (const [operation, followed] of [
    ['followResponse', id],
    ['followConversation', conversationId],
  ]) {
    const { response } = await api.call(operation, { params: { id: followed }, headers });
    response.webSocket?.accept();
    response.webSocket?.close();
  }
});

it('follows an account', async () => {
  for (const framing of ['named', 'data']) {
    const { events } = await api.call('followAccount', { query: { framing } });
    expect(events).toEqual([{ type: 'reset' }]);
  }
  scriptModel(() => ({ text: 'Hello.' }));
  await api.call('createAgent', { body: { prompt: 'go', workspace: 'in_place' } });
  const { json } = await api.call('createResponse', { body: { messages } });
  const bridge = await openBridge({ account: ACCOUNT });
  await bridge.greet();
  await bridge.leave();
  await api.call('deleteConversation', { params: { id: Object(json).conversationId } });
  const ticket = await api.call('createTicket', { body: { stream: 'account' } });
  const query = { ticket: Object(ticket.json).ticket, after: '1' };
  const { events } = await api.call('followAccount', { query, token: null });
  const types = new Set(events.map((event) => Object(event).type));
  expect([...types].sort()).toEqual(['bridge', 'conversation', 'conversation_deleted']);
  const headers = { upgrade: 'websocket' };
  const { response } = await api.call('followAccount', { headers });
  response.webSocket?.accept();
  response.webSocket?.close();
});

it('a plan', async () => {
  scriptModel((_, turn) => (turn === 0 ? { calls: [PLAN] } : { text: 'Done.' }));
  const { json } = await api.call('createPlan', { body: { messages } });
  expect(Object(json).documents[0]).toMatchObject({ type: 'plan', metadata: { title: 'P' } });
  const { conversationId } = Object(json);
  const params = { id: conversationId, documentId: 'doc_001' };
  const edit = { title: 'Q', overview: '', content: 'Later', todos: [] };
  await api.call('changePlan', { params, body: { version: 1, ...edit } });
  const stale = { version: 1, ...edit, title: 'R' };
  await api.call('changePlan', { params, body: stale });
  await api.call('executePlan', { params, body: { version: 2, device: 'laptop' } });
  for (const framing of ['named', 'data']) {
    const body = { version: 2, stream: true, stream_options: { framing } };
    const { events } = await api.call('executePlan', { params, body });
    expect(events.at(-1)).toMatchObject({ type: 'done' });
  }
  await api.call('executePlan', { params, body: { version: 1 } });
  await api.call('savePlan', { params, body: { version: 1 } });
  for (const body of [{ preview: true }, { scope: 'redo', stream: true }]) {
    await api.call('undo', { params: { id: conversationId }, body });
  }
  for (const stream of [false, true]) {
    await api.call('compact', { params: { id: conversationId }, body: { stream } });
  }
  await api.call('sendWhole', { params: { id: conversationId } });
  const bridge = await connectBridge({ account: ACCOUNT });
  const { bridgeId } = bridge;
  standsAt.delete(ACCOUNT); // The conversation has the bridge before this one.
  for (const stream of [false, true]) {
    // This bridge cannot save plans, and the file that it has holds none.
    await api.call('savePlan', { params, body: { name: 'q', stream } });
    const body = { path: 'a.ts', bridgeId, stream };
    await Promise.all([api.call('executePlanFile', { body }), serve(bridge, 1)]);
  }
  standsAt.set(ACCOUNT, bridgeId);
  const { events } = await api.call('followConversation', {
    params: { id: conversationId },
    query: { after: '0' },
  });
  expect(events).toContainEqual(expect.objectContaining({ type: 'plan_update' }));
});

it('what is done to a conversation', async () => {
  scriptModel(() => ({ text: 'Hello.' }));
  const { id, conversationId } = Object(
    (await api.call('createResponse', { body: { messages } })).json,
  );
  const params = { id: conversationId };
  await api.call('updateConversation', { params, body: { title: 'Other', archived: true } });
  await api.call('forkConversation', { params, body: { responseId: id } });
  await api.call('forkConversation', { params, body: { responseId: id, files: 'restore' } });
  await api.call('cancelResponse', { params: { id } });
  const { json } = await api.call('createTicket', { body: { conversationId } });
  const query = { ticket: Object(json).ticket };
  await api.call('followConversation', { params, query, token: null });
  await api.call('deleteConversation', { params });
});

it('an agent', async () => {
  scriptModel(() => ({ text: 'Hello.' }));
  const webhook = { url: 'https://hooks.test/' };
  const { json } = await api.call('createAgent', {
    body: { prompt: 'go', title: 'A', webhook, workspace: 'in_place' },
  });
  const params = { id: Object(json).id };
  await vi.waitFor(async () => {
    const found = await api.call('getAgent', { params });
    expect(Object(found.json)).toMatchObject({ status: 'completed', result: 'Hello.' });
  });
  await api.call('followUpAgent', { params, body: { prompt: 'more' } });
  await api.call('stopAgent', { params });
  const { items } = Object((await api.call('listDeliveries', { params })).json);
  expect(items.at(-1)).toMatchObject({ type: 'agent.running' });
  await api.call('listAgents', { query: { limit: '1' } });
  await api.call('archiveAgent', { params });
  await api.call('followUpAgent', { params, body: { prompt: 'more' } });
  await api.call('listAgents', { query: { status: 'archived' } });
  await api.call('unarchiveAgent', { params });
  await api.call('deleteAgent', { params });
});

it('an agent in Cursor’s shapes', async () => {
  const model = holdModel();
  const body = { prompt: { text: 'go' } };
  const token = await tokenFor({ account: `ada-${crypto.randomUUID()}` });
  const { json } = await api.call('createCursorAgent', { body, token });
  const { agent, run } = Object(json);
  const params = { id: agent.id, runId: run.id };
  await api.call('getCursorRun', { params, token });
  await model.next();
  await api.call('createCursorRun', { params, body, token });
  await api.call('cancelCursorRun', { params, token });
  const { events } = await api.call('streamCursorRun', { params, token });
  expect(events.at(-1)).toEqual({ event: 'done', data: {} });
  await api.call('createCursorRun', { params, body, token });
  await api.call('listCursorRuns', { params, query: { limit: '1' }, token });
  await api.call('getCursorUsage', { params, token });
  await api.call('listCursorAgents', { query: { limit: '1' }, token });
  await api.call('getCursorAgent', { params, token });
  await api.call('archiveCursorAgent', { params, token });
  await api.call('unarchiveCursorAgent', { params, token });
  await api.call('deleteCursorAgent', { params, token });
  await api.call('getCursorMe', { token });
});

it('what a person decides', async () => {
  const bridge = await connectBridge({ account: ACCOUNT });
  scriptModel((_, turn) => ({ calls: [[RUN, ASK][turn] ?? RUN] }));
  const body = { messages, bridgeId: bridge.bridgeId };
  const asking = api.call('createResponse', { body });
  const { callId, conversationId } = await bridge.nextCall();
  bridge.ask(callId);
  const params = { id: conversationId };
  await vi.waitFor(async () => {
    const { json } = await api.call('getConversation', { params });
    expect(Object(json).responses[0].status).toBe('waiting');
  });
  const more = { messages, conversationId, stream: true };
  const waiting = await call('chat/completions', { body: more, account: ACCOUNT });
  const id = waiting.headers.get('drawbridge-response-id') ?? '';
  await api.call('editMessage', { params: { id }, body: { content: 'Something else.' } });
  await api.call('cancelResponse', { params: { id } });
  await waiting.body?.cancel();
  const open = Object((await api.call('listApprovals')).json).items;
  expect(open).toMatchObject([{ callId, conversationId, nonce: NONCE, documentId: 'doc_001' }]);
  const signature = { deviceId: newDeviceId(crypto.randomUUID()), value: 'c2ln' };
  const approval = { nonce: NONCE, decision: 'once', signature };
  const sent = api.call('answerApproval', { params: { ...params, callId }, body: approval });
  await bridge.next('approval');
  bridge.resolve(callId);
  await sent;
  bridge.succeed(callId, 'ran');
  expect(Object((await asking).json).status).toBe('waiting');
  const documentId = await vi.waitFor(async () => {
    const { json } = await api.call('getResponse', {
      params: { id: responseIdOf(conversationId, 1) },
    });
    const asked = Object(json).documents.at(-1);
    expect(asked.metadata.awaiting).toBe(true);
    return asked.id;
  });
  await vi.waitFor(async () => {
    const { questions } = Object((await api.call('listApprovals')).json);
    expect(questions).toMatchObject([{ conversationId, documentId }]);
  });
  const answers = [{ questionId: 'q1', optionIds: ['jwt'] }];
  await api.call('answerClarification', { params: { ...params, documentId }, body: { answers } });
  await api.call('cancelResponse', { params: { id: responseIdOf(conversationId, 1) } });
});

it('what there is', async () => {
  await api.call('updateMe', { body: { deleteAfterHours: null } });
  for (const operation of ['getMe', 'listModels', 'listTools', 'getHealth', 'getOpenApi']) {
    expect((await api.call(operation)).status).toBe(200);
  }
  const { events } = await api.call('testStream');
  expect(events).toEqual([1, 2, 3].map((part) => ({ part, of: 3 })));
  expect((await api.call('getMetrics', { token: env.METRICS_TOKEN ?? '' })).status).toBe(200);
  for (const token of [null, undefined, 'metrics-token-of-others']) {
    const call = token === undefined ? {} : { token };
    expect((await api.call('getMetrics', call)).status).toBe(401);
  }
  const id = newBridgeId(crypto.randomUUID());
  const token = await tokenFor({ account: ACCOUNT, claims: { scope: 'bridge', bridge: id } });
  const headers = { upgrade: 'websocket' };
  const { response } = await api.call('connectBridge', { params: { id }, token, headers });
  response.webSocket?.accept();
  response.webSocket?.close();
});

it('the keys of apps', async () => {
  const token = await tokenFor({ account: ACCOUNT, claims: { scope: 'operator' } });
  const id = 'contract';
  const body = { id, origins: ['https://shop.test'], budget: { maxTurns: 5 } };
  await api.call('createKey', { token, body });
  await api.call('listKeys', { token });
  const terms = { can: ['read'], origins: [], models: ['scripted'] };
  await api.call('changeKey', { token, params: { id }, body: terms });
  const renewed = await api.call('renewKeySecret', { token, params: { id } });
  const { secret } = Object(renewed.json);
  await api.call('createToken', { token: secret, body: { user: '42' } });
  await api.call('deleteKey', { token, params: { id } });
  await api.call('listServerRecords', { token });
  await api.call('wakeRuns', { token });
  await api.call('giveUpLeft', { token, body: { bridges: ['0'.repeat(64)] } });
});

it('the sessions of people', async () => {
  const server = {
    url: 'https://drawbridge.test',
    fetch: (async (input, init) => {
      const path = new URL(String(input)).pathname.replace('/api/v1/', '');
      const { response, json } = await api.call(STRANGERS[path] ?? path, {
        body: JSON.parse(String(init?.body)),
      });
      return Response.json(json, { status: response.status });
    }) as typeof fetch,
  };
  const holder = { name: 'laptop', kind: 'machine' } as const;
  const { json: revoked } = await api.call('createInvitation');
  const { json: unwanted } = await api.call('createInvitation');
  await api.call('listInvitations');
  await api.call('revokeInvitation', { params: { id: Object(revoked).id } });
  const operator = await tokenFor({ account: ACCOUNT, claims: { scope: 'operator' } });
  await api.call('listAllInvitations', { token: operator });
  const params = { id: Object(unwanted).id };
  await api.call('revokeAnyInvitation', { token: operator, params });
  const { json: invitation } = await api.call('createInvitation');
  const invited = await newSessionKey();
  const made = await enter(server, Object(invitation).secret, holder, invited);
  const token = await sessionTokens(server, { ...made, signer: invited })(undefined, undefined);
  const { subscription } = await newBrowser();
  const kinds = { waiting: true, ended: true, failed: false };
  expect((await api.call('setPush', { token, body: { subscription, kinds } })).status).toBe(204);
  const { json: push } = await api.call('getPush', { token });
  expect(push).toMatchObject({ subscribed: { endpoint: subscription.endpoint, kinds } });
  expect((await api.call('deletePush', { token })).status).toBe(204);
  const signer = await newSessionKey();
  const { code } = await beginLogin(server, holder, signer);
  await api.call('getLogin', { params: { code } });
  const body = { decision: 'approve', key: signer.publicKey };
  await api.call('decideLogin', { params: { code }, body });
  const passkey = await newPasskey();
  const { credentialId } = passkey;
  const { publicKey } = passkey.key;
  const added = { credentialId, name: 'Phone', origin: PASSKEY_ORIGIN, publicKey };
  await api.call('addPasskey', { body: added });
  await api.call('listPasskeys');
  const { secret } = await beginLogin(server, holder, signer);
  const signature = await passkey.assert(loginText(secret));
  await api.call('loginByPasskey', { body: { secret, credentialId, signature } });
  await api.call('removePasskey', { params: { id: credentialId } });
  await api.call('listSessions');
  await api.call('endSession', { params: { id: made.session } });
  await api.call('listRecords');
});

it('the accounts', async () => {
  const token = await tokenFor({ account: ACCOUNT, claims: { scope: 'operator' } });
  const account = `deleted-${ACCOUNT}`;
  await call('me', { account, method: 'PATCH', body: { deleteAfterHours: null } });
  const params = { account };
  await api.call('updateAccount', { token, params, body: { state: 'suspended' } });
  await api.call('getAccount', { token, params });
  await api.call('exportAccount', { token, params });
  await api.call('deleteAccount', { token, params });
});

it('in OpenAI’s shape', async () => {
  scriptModel(() => ({ text: 'Hello.' }));
  await api.call('createChatCompletion', { body: { messages } });
  const stream_options = { include_usage: true };
  const body = { messages, stream: true, stream_options };
  const { events } = await api.call('createChatCompletion', { body });
  expect(events.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 18 } });
  const input = 'What is here?';
  await api.call('createOpenAiResponse', { body: { input } });
  const responding = await api.call('createOpenAiResponse', { body: { input, stream: true } });
  expect(responding.events.at(-1)).toMatchObject({ type: 'response.completed' });
  await api.call('listOpenAiModels');
  await api.call('getOpenAiModel', { params: { id: 'scripted' } });
});

it('in the shape of the AI SDK', async () => {
  const model = holdModel();
  const parts = [{ type: 'text', text: 'What is here?' }];
  const body = { id: 'chat', messages: [{ id: 'm', role: 'user', parts }] };
  const answering = api.call('createUiMessage', { body });
  const reply = await model.next();
  const resuming = api.call('resumeUiMessage', { params: { id: 'chat' }, query: { after: '0' } });
  const { items } = Object((await api.call('listConversations', { query: { limit: '1' } })).json);
  await vi.waitFor(async () => expect(await followersOf(items[0].id)).toBe(2));
  reply.answer({ text: 'Hello.' });
  const { events } = await answering;
  expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
  expect((await resuming).events).toEqual(events.slice(1));
  await api.call('resumeUiMessage', { params: { id: 'chat' } });
  const { response } = await api.call('openUiSocket', { headers: { upgrade: 'websocket' } });
  response.webSocket?.accept();
  response.webSocket?.close();
});

it('without a token, with one of another scope, and for what does not exist', async () => {
  const unknown = newConversationId(crypto.randomUUID());
  const bridge = newBridgeId(crypto.randomUUID());
  const token = await tokenFor({ account: ACCOUNT, claims: { scope: 'bridge', bridge } });
  const ids = {
    conversations: unknown,
    agents: unknown,
    completions: responseIdOf(unknown, 1),
    bridges: bridge,
  };
  for (const { operationId, path, isOpen, requestBody } of api.operations) {
    if (isOpen || operationId === 'getMetrics' || KEYS.test(path)) continue;
    const [, room = ''] = /(\w+)\/\{id\}/.exec(path) ?? [];
    const ours = Object(ids)[room] ?? 'none';
    const id = path.startsWith('/v1/agents') ? ours.replace('conv_', 'bc-') : ours;
    const params = {
      id,
      callId: `call_${crypto.randomUUID()}`,
      documentId: 'doc_001',
      runId: 'none',
      processId: 'none',
    };
    const body = requestBody?.content['application/json']?.example;
    const refusal = async (more: object) =>
      (await api.call(operationId, { params, body, ...more })).status;
    expect([operationId, await refusal({ token: null })]).toEqual([operationId, 401]);
    if (room === 'bridges') continue;
    expect([operationId, await refusal({ token })]).toEqual([operationId, 403]);
    // The app chooses the ids of its chats: in one without messages there is nothing to resume.
    if (room === 'chat') expect([operationId, await refusal({})]).toEqual([operationId, 204]);
    else if (room !== '') expect([operationId, await refusal({})]).toEqual([operationId, 404]);
    if (body) expect([operationId, await refusal({ body: 7 })]).toEqual([operationId, 400]);
  }
});

it('every success in the document was seen', () => {
  expect(api.successes().filter((success) => !api.seen.has(success))).toEqual([]);
});

const ASK = {
  name: 'ask_question',
  arguments: {
    questions: [{ id: 'q1', prompt: 'JWT?', options: [{ id: 'jwt', label: 'JWT' }] }],
  },
};

const STRANGERS: Readonly<Record<string, string>> = {
  logins: 'createLogin',
  sessions: 'createSession',
  'sessions/token': 'createSessionToken',
};

/** Paths of operators and apps, which tests of their own try with every kind of token, and ids that are no UUIDs. */
const KEYS = /\/(keys|tokens|logins|passkeys|operator|accounts)\b/;

const RUN = { name: 'run_terminal_cmd', arguments: { command: 'make' } };

const PLAN = {
  name: 'create_plan',
  arguments: { name: 'P', overview: 'O', plan: '# P', todos: [{ id: 'a', content: 'A' }] },
};

/** What the model answers, turn by turn. */
const TURNS = [
  {
    text: 'See:\n\n```1:2:a.ts\nlet a\n```\n\n```ts\nlet b\n```\n',
    calls: [
      { name: 'todo_write', arguments: { todos: [{ id: 'a', content: 'A', status: 'pending' }] } },
      // Refused outside the mode plan.
      PLAN,
    ],
  },
  {
    calls: [
      { name: 'read_file', arguments: { target_file: 'a.ts' } },
      { name: 'write', arguments: { path: 'b.ts', contents: 'let b' } },
      RUN,
      { name: 'read_file', arguments: { target_file: 'none.ts' } },
    ],
  },
];

/** Answers calls as the real bridge does; the file `none.ts` does not exist. */
async function serve(bridge: ScriptedBridge, count: number): Promise<void> {
  for (let done = 0; done < count; done++) {
    const { callId, tool, arguments: args } = await bridge.nextCall();
    if (args['target_file'] === 'none.ts') {
      const data = 'There is no such file.';
      bridge.finish(callId, { status: 'error', code: 'FILE_NOT_FOUND', data });
    } else if (tool === 'run_terminal_cmd') {
      bridge.send({ type: 'output', callId, delta: 'ok' });
      const newlyProtected = [{ name: '.envrc', quarantined: false, what: ['a shell reads it'] }];
      const ran = { exitCode: 0, output: 'ok', duration_ms: 3, permissions: [], newlyProtected };
      bridge.succeed(callId, 'ok', { ...ran, workingDirectory: '/work' });
    } else bridge.succeed(callId, 'done');
  }
}

/** The id of the last event of a finished response. */
async function lastPosition(id: string): Promise<string> {
  const response = await call(`chat/completions/${id}/events`, { account: ACCOUNT });
  const positions = [...(await response.text()).matchAll(/^id: (\d+)$/gm)];
  return positions.at(-1)?.[1] ?? '';
}
