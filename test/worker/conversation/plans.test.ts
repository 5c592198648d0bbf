import { abortAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import { foldConversation } from '../../../shared/wire/fold.ts';
import type { Plan } from '../../../shared/wire/plans.ts';
import { TunnelHands } from '../../../worker/conversation/calls/hands.ts';
import { ask, call, chat, errorOf, scriptModel } from '../api.ts';
import { type ReadEvent, SseReader } from '../follow/sse-reader.ts';
import { conversationObject, expectUsable, readResponse, readView } from './conversing.ts';
import { holdModel, textFrame } from './held-model.ts';

const LAID = {
  name: 'create_plan',
  arguments: {
    name: 'Auth middleware',
    overview: 'Checks tokens.',
    plan: '# Auth\n\n- `src/auth.py` (new)',
    todos: [
      { id: 'use', content: 'Use it', dependencies: ['make'] },
      { id: 'make', content: 'Make it' },
    ],
  },
};

const EDIT = {
  version: 1,
  title: 'Auth, shorter',
  overview: 'Checks tokens once.',
  content: '# Auth\n\nOnly `src/app.py`.',
  todos: [
    { id: 'use', content: 'Use it everywhere', dependencies: ['make'] },
    { id: 'docs', content: 'Describe it', dependencies: ['use'] },
    { id: 'make', content: 'Make it' },
  ],
};

const EDITED = {
  version: 2,
  title: EDIT.title,
  overview: EDIT.overview,
  content: EDIT.content,
  todos: EDIT.todos.map((todo) => ({ dependencies: [], ...todo, status: 'pending' })),
};

it('changing a plan is shown on return, to followers, in forks and in exports', async () => {
  const { conversationId, response } = await lay();
  const { position, ...before } = await readView(conversationId);
  const plan = await change(conversationId, EDIT);
  expect(plan).toEqual({ ...EDITED, responseId: response.id, documentId: 'doc_001' });

  const shown = { type: 'plan', content: EDIT.content, metadata: metadataOf(EDITED) };
  expect((await readResponse(response.id)).documents[0]).toMatchObject(shown);
  const now = await readView(conversationId);
  expect(now.responses[0]?.documents[0]).toMatchObject(shown);
  const follower = await follow(conversationId, position);
  const isUpdate = ({ event }: ReadEvent) => event.type === 'plan_update';
  const missed = await follower.until((events) => events.some(isUpdate));
  await follower.leave();
  const folded = { ...before, position };
  for (const { event } of missed) foldConversation(folded, event);
  expect(folded.responses).toEqual(now.responses);

  const exported = await call(`conversations/${conversationId}/export`);
  expect(Object(await exported.json()).conversation.responses).toEqual(now.responses);
  const body = { responseId: response.id };
  const forked = await call(`conversations/${conversationId}/forks`, { body });
  const copy = Object(await forked.json()).conversationId;
  expect((await readView(copy)).responses[0]?.documents[0]).toMatchObject(shown);
  expect(await change(copy, { ...EDIT, version: 2, title: 'In the fork' })).toMatchObject({
    version: 3,
  });
});

it('changing a plan outlives a crash, and reaches a part that is read later', async () => {
  const { conversationId, response } = await lay();
  await change(conversationId, EDIT);
  scriptModel(() => ({ text: 'Well.' }));
  const { id } = await chat('Something else', { conversationId });
  await abortAllDurableObjects();
  await change(conversationId, { ...EDIT, version: 2, title: 'Third' });
  const title = async (part: string) =>
    (await readView(conversationId, { query: part })).responses[0]?.documents[0]?.metadata['title'];
  expect(await title(`?before=${id}`)).toBe('Third');
  expect(await title('')).toBe('Third');
  expect((await readResponse(response.id)).documents[0]?.metadata['version']).toBe(3);
});

it('changing a plan is sent to the model with the next message, once, behind what was said', async () => {
  const { conversationId } = await lay();
  await change(conversationId, EDIT);
  await change(conversationId, { ...EDIT, version: 2, overview: 'Again.' });
  const requests = scriptModel((_, turn) =>
    turn === 0 ? { calls: [todoWrite('docs', 'completed')] } : { text: 'Well.' },
  );
  await chat('And now?', { conversationId });
  const messages = requests[0]?.messages ?? [];
  expect(messages.map(({ role }) => role)).toEqual([
    ...['system', 'user', 'assistant', 'tool', 'assistant', 'user'],
  ]);
  const note = String(messages.at(-1)?.content);
  expect(note).toContain('The user has edited the plan.');
  expect(note).toContain('Again.');
  expect(note).toContain('- [pending] docs: Describe it (after use)');
  expect(JSON.stringify(messages)).not.toContain(EDIT.overview);
  expect(requests[1]?.messages.slice(0, messages.length)).toEqual(messages);
  await chat('And then?', { conversationId });
  expect(requests[2]?.messages.slice(0, messages.length)).toEqual(messages);
  // The list of todos is the edited one, in the plan's order.
  expect(requests[1]?.messages.at(-1)?.content).toBe(
    '- [pending] use: Use it everywhere\n- [completed] docs: Describe it\n- [pending] make: Make it',
  );
});

it('changing a plan reaches a current run with its next request, and lets no run go on', async () => {
  const { conversationId } = await lay();
  const model = holdModel();
  const answer = await ask('Go on', { conversationId, stream: true });
  const reader = new SseReader(answer);
  const first = await model.next();
  await change(conversationId, EDIT);
  first.answer({ calls: [todoWrite('make', 'completed')] });
  const second = await model.next();
  expect(String(second.request.messages.at(-1)?.content)).toContain('edited the plan');
  await change(conversationId, { ...EDIT, version: 2, title: 'Too late for this run' });
  second.answer({ text: 'Done.' });
  await reader.toEnd();
  expect(model.count).toBe(2);
  scriptModel(() => ({ text: 'Well.' }));
  const shown = await readView(conversationId);
  expect(shown.responses[0]?.documents[0]?.metadata).toMatchObject({
    version: 3,
    todos: [{ id: 'use' }, { id: 'docs' }, { id: 'make', status: 'completed' }],
  });
});

it('changing a plan is sent after a crash too, and in a fork', async () => {
  const { conversationId } = await lay();
  const model = holdModel();
  const reader = new SseReader(await ask('Go on', { conversationId, stream: true }));
  const held = await model.next();
  await change(conversationId, EDIT);
  held.send(textFrame('Half'));
  await reader.untilText('Half');
  await abortAllDurableObjects();
  const again = await model.next();
  expect(String(again.request.messages.at(-1)?.content)).toContain(EDIT.title);
  again.answer({ text: 'Done.' });
  await reader.toEnd();

  const second = await lay();
  await change(second.conversationId, EDIT);
  const body = { responseId: second.response.id };
  const forked = await call(`conversations/${second.conversationId}/forks`, { body });
  const requests = scriptModel(() => ({ text: 'Well.' }));
  await chat('And now?', { conversationId: Object(await forked.json()).conversationId });
  expect(String(requests[0]?.messages.at(-1)?.content)).toContain(EDIT.title);
});

it('changing a plan is refused where another device has changed the plan meanwhile', async () => {
  const { conversationId } = await lay();
  const [one, two] = await Promise.all([
    put(conversationId, EDIT),
    put(conversationId, { ...EDIT, title: 'Other' }),
  ]);
  const [won, lost] = one.ok ? [one, two] : [two, one];
  const plan = await won.json<Plan>();
  expect(await errorOf(lost)).toMatchObject({
    status: 409,
    code: 'PLAN_CHANGED',
    details: { plan },
  });
  expect(plan.version).toBe(2);
});

it('changing a plan changes nothing when it is sent again', async () => {
  const { conversationId } = await lay();
  const plan = await change(conversationId, EDIT);
  const { position } = await readView(conversationId);
  expect(await change(conversationId, EDIT)).toEqual(plan);
  expect((await readView(conversationId)).position).toBe(position);
});

it.each([
  ['a todo twice', [todo('a'), todo('b'), todo('a')], 'todos[2].id'],
  ['an unknown todo', [todo('a', 'b', 'c'), todo('b')], 'todos[0].dependencies[1]'],
  ['a circle', [todo('a'), todo('b', 'c'), todo('c', 'b')], 'todos[1].dependencies'],
  ['itself', [todo('a', 'a')], 'todos[0].dependencies'],
  ['an unknown field', [{ ...todo('a'), done: true }], 'todos[0].done'],
])('changing a plan refuses %s with its path', async (_, todos, path) => {
  const { conversationId } = await lay();
  const refused = await errorOf(await put(conversationId, { ...EDIT, todos }));
  expect(refused).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
    details: { issues: [{ path }] },
  });
  await expectUsable(conversationId);
});

it('changing a plan refuses plans that are not there, replaced, or of another account', async () => {
  const { conversationId, response } = await lay();
  const path = `conversations/${conversationId}/plans`;
  const attempt = async (document: string, more: object = {}, account = 'ada') => {
    const body = { ...EDIT, ...more };
    return await errorOf(await call(`${path}/${document}`, { method: 'PUT', body, account }));
  };
  const missing = { status: 404, code: 'NOT_FOUND' };
  expect(await attempt('doc_002')).toMatchObject(missing);
  expect(await attempt('nothing')).toMatchObject(missing);
  expect(await attempt('doc_001', {}, 'eve')).toMatchObject(missing);
  scriptModel((_, turn) => (turn === 0 ? { text: 'New:', calls: [LAID] } : { text: 'Done.' }));
  await chat('Another plan', { conversationId, mode: 'plan' });
  expect(await attempt('doc_001')).toMatchObject({ status: 409, code: 'SUPERSEDED' });
  const { id: responseId } = response;
  expect(await attempt('doc_002', { responseId })).toMatchObject(missing);
  expect(await change(conversationId, EDIT, 'doc_002')).toMatchObject({ version: 2 });
  await expectUsable(conversationId);
});

it('executing a plan begins with the todos as the list, and shows the plan in dependency order', async () => {
  const { conversationId } = await lay();
  await change(conversationId, EDIT);
  const requests = scriptModel((_, turn) =>
    turn === 0 ? { calls: [todoWrite('make', 'completed')] } : { text: 'Done.' },
  );
  const response = await execute(conversationId, { version: 2, model: 'other-model' });
  expect(response).toMatchObject({ mode: 'agent', model: 'other-model', status: 'completed' });
  const todos = [
    { id: 'make', content: 'Make it', status: 'pending' },
    { id: 'use', content: 'Use it everywhere', status: 'pending' },
    { id: 'docs', content: 'Describe it', status: 'pending' },
  ];
  expect(response.documents).toMatchObject([
    { id: 'doc_001', type: 'todo_update', metadata: { todos } },
    { id: 'doc_002', type: 'todo_update', metadata: { todos: [{ id: 'make' }] } },
    { type: 'text', content: 'Done.' },
  ]);
  const sent = String(requests[0]?.messages.at(-1)?.content);
  expect(sent).toContain(
    '- [pending] make: Make it\n- [pending] use: Use it everywhere (after make)\n- [pending] docs: Describe it (after use)',
  );
  expect(sent).toContain('<executing_a_plan>');
  expect(sent).toContain('Execute the plan “Auth, shorter”.');
  expect(requests[1]?.messages.at(-1)?.content).toContain('- [completed] make: Make it');
  const { messages, responses } = await readView(conversationId);
  expect(messages.at(-1)?.content).toBe('Execute the plan “Auth, shorter”.');
  expect(responses[0]?.documents[0]?.metadata['todos']).toMatchObject([
    { id: 'use', status: 'pending', dependencies: ['make'] },
    { id: 'docs', status: 'pending' },
    { id: 'make', status: 'completed' },
  ]);
});

it('executing a plan resumes after a failure: finished todos stay finished, begun ones are open again', async () => {
  const { conversationId } = await lay();
  scriptModel((_, turn) => {
    if (turn === 0) return { calls: [todoWrite('make', 'completed')] };
    if (turn === 1) return { calls: [todoWrite('use', 'in_progress')] };
    return new Response('no', { status: 400 });
  });
  expect((await execute(conversationId)).status).toBe('error');
  const requests = scriptModel((_, turn) =>
    turn === 0 ? { calls: [todoWrite('use', 'completed')] } : { text: 'Done.' },
  );
  const response = await execute(conversationId);
  expect(response.documents[0]?.metadata['todos']).toMatchObject([
    { id: 'make', status: 'completed' },
    { id: 'use', status: 'pending' },
  ]);
  const sent = String(requests[0]?.messages.at(-1)?.content);
  expect(sent).toContain('1 of 2 todos are finished and stay so.');
  expect(sent).toContain('- [completed] make: Make it');
  const finished = await call(pathOf(conversationId, 'doc_001/execute'), { body: {} });
  expect(await errorOf(finished)).toMatchObject({ status: 409, code: 'PLAN_FINISHED' });
});

it('executing a plan lists the todos once when a crash cuts its first turn', async () => {
  const { conversationId } = await lay();
  const model = holdModel();
  const streamed = await call(pathOf(conversationId, 'doc_001/execute'), {
    body: { stream: true },
  });
  const reader = new SseReader(streamed);
  (await model.next()).send(textFrame('Half'));
  await reader.untilText('Half');
  await abortAllDurableObjects();
  (await model.next()).answer({ text: 'Whole.' });
  await reader.toEnd();
  const { documents } = await readResponse(streamed.headers.get('drawbridge-response-id') ?? '');
  expect(documents.map(({ type, content }) => [type, content])).toEqual([
    ['todo_update', null],
    ['text', 'Whole.'],
  ]);
});

it('executing a plan executes the newest plan where it still waits for the look at its machine', async () => {
  const { conversationId } = await lay();
  const look = vi.spyOn(TunnelHands.prototype, 'look').mockRejectedValue(new Error('reset'));
  const path = pathOf(conversationId, 'doc_001/execute');
  const reader = new SseReader(await call(path, { body: { stream: true } }));
  await reader.until((events) => events.length > 0);
  await change(conversationId, EDIT);
  look.mockRestore();
  const requests = scriptModel(() => ({ text: 'Done.' }));
  await runDurableObjectAlarm(conversationObject(conversationId));
  await reader.toEnd();
  const { messages = [] } = requests[0] ?? {};
  expect(String(messages.at(-1)?.content)).toContain('docs: Describe it');
  expect(JSON.stringify(messages)).not.toContain('has edited the plan');
});

it('executing a plan happens once for each Idempotency-Key', async () => {
  const { conversationId } = await lay();
  const requests = scriptModel(() => ({ text: 'Done.' }));
  const headers = { 'idempotency-key': 'once' };
  const first = await execute(conversationId, { version: 1 }, headers);
  await change(conversationId, EDIT);
  expect((await execute(conversationId, { version: 1 }, headers)).id).toBe(first.id);
  expect(requests).toHaveLength(1);
  const other = await call(pathOf(conversationId, 'doc_001/execute'), {
    body: { version: 2 },
    headers,
  });
  expect(await errorOf(other)).toMatchObject({ status: 422, code: 'IDEMPOTENCY_CONFLICT' });
});

it('executing a plan is refused for a plan that changed, that is not there, and while a run is running', async () => {
  const { conversationId } = await lay();
  await change(conversationId, EDIT);
  const attempt = async (document: string, body: object) =>
    await errorOf(await call(pathOf(conversationId, `${document}/execute`), { body }));
  expect(await attempt('doc_001', { version: 1 })).toMatchObject({
    status: 409,
    code: 'PLAN_CHANGED',
    details: { plan: { version: 2 } },
  });
  expect(await attempt('doc_009', {})).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect(await attempt('doc_001', { mode: 'ask' })).toMatchObject({ status: 400 });
  const model = holdModel();
  const reader = new SseReader(await ask('Wait', { conversationId, stream: true }));
  const held = await model.next();
  expect(await attempt('doc_001', {})).toMatchObject({ status: 409, code: 'CONVERSATION_BUSY' });
  held.answer({ text: 'Done.' });
  await reader.toEnd();
  await expectUsable(conversationId);
});

it('executing a plan keeps the tool for the list of todos, whatever tools the request names', async () => {
  const { conversationId } = await lay();
  const requests = scriptModel(() => ({ text: 'Done.' }));
  await execute(conversationId, { tools: ['create_plan'] });
  const names = requests[0]?.tools?.map(({ function: { name } }) => name);
  expect(names).toEqual(['todo_write', 'create_plan']);
});

/** A conversation whose first response has {@link LAID} as `doc_001`. */
async function lay(): Promise<{ conversationId: string; response: ChatResponse }> {
  scriptModel((_, turn) => (turn === 0 ? { calls: [LAID] } : { text: 'There it is.' }));
  const response = await chat('Plan it', { mode: 'plan' });
  return { conversationId: response.conversationId, response };
}

function pathOf(conversationId: string, rest: string): string {
  return `conversations/${conversationId}/plans/${rest}`;
}

function put(conversationId: string, body: object, document = 'doc_001'): Promise<Response> {
  return call(pathOf(conversationId, document), { method: 'PUT', body });
}

async function change(...parts: Parameters<typeof put>): Promise<Plan> {
  const response = await put(...parts);
  expect(response.status).toBe(200);
  return await response.json();
}

async function execute(
  conversationId: string,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<ChatResponse> {
  const response = await call(pathOf(conversationId, 'doc_001/execute'), { body, headers });
  expect(response.status).toBe(200);
  return await response.json();
}

async function follow(conversationId: string, after: number): Promise<SseReader> {
  return new SseReader(await call(`conversations/${conversationId}/events?after=${after}`));
}

function metadataOf({ content: _, ...metadata }: typeof EDITED): object {
  return { ...metadata, format: 'markdown' };
}

function todo(id: string, ...dependencies: string[]) {
  return { id, content: id, dependencies };
}

function todoWrite(id: string, status: string) {
  return { name: 'todo_write', arguments: { merge: true, todos: [{ id, status }] } };
}
