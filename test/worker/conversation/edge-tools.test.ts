import { abortAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import { ask, call, chat, errorOf, scriptModel } from '../api.ts';
import { type ReadEvent, SseReader } from '../follow/sse-reader.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import {
  askAtBridge,
  askStreamed,
  conversationObject,
  expectUsable,
  readResponse,
  readView,
} from './conversing.ts';
import { holdModel, readFile } from './held-model.ts';

const PLAN = {
  name: 'create_plan',
  arguments: {
    name: 'Auth middleware',
    overview: 'Checks tokens.',
    plan: '# Auth\n\n- `src/auth.py` (new)',
    todos: [
      { id: 'make', content: 'Make it' },
      { id: 'use', content: 'Use it', dependencies: ['make'] },
    ],
  },
};

const QUESTIONS = {
  name: 'ask_question',
  arguments: {
    title: 'Before I go on:',
    questions: [
      {
        id: 'q1',
        prompt: 'JWT or session?',
        options: [
          { id: 'jwt', label: 'JWT' },
          { id: 'session', label: 'Session' },
        ],
      },
    ],
  },
};
const ASKED = [
  { id: 'q1', text: 'JWT or session?', options: QUESTIONS.arguments.questions[0]?.options },
];

it('todo_write needs no bridge, and becomes a todo_update document', async () => {
  const first = { id: 'a', content: 'Read', status: 'in_progress' };
  const requests = scriptModel((_, turn) => {
    if (turn === 0) return { calls: [todoWrite([first, { id: 'b', content: 'Fix' }])] };
    if (turn === 1) return { calls: [todoWrite([{ id: 'a', status: 'completed' }])] };
    return { text: 'Done.' };
  });
  const response = await chat('go');
  expect(response.documents).toMatchObject([
    {
      type: 'todo_update',
      content: null,
      metadata: {
        todos: [
          { id: 'a', status: 'in_progress', content: 'Read' },
          { id: 'b', status: 'pending', content: 'Fix' },
        ],
      },
    },
    {
      type: 'todo_update',
      content: null,
      metadata: { todos: [{ id: 'a', status: 'completed' }] },
    },
    { type: 'text', content: 'Done.' },
  ]);
  expect(requests[2]?.messages.at(-1)?.content).toBe('- [completed] a: Read\n- [pending] b: Fix');
});

it('todo_write takes what its arguments mean, and the model gets the names of those that it ignored', async () => {
  const todo = { id: 1, content: 'Read', status: 'pending', priority: 'high' };
  const requests = scriptModel((_, turn) => {
    const args = { merge: 'false', todos: JSON.stringify([todo]), explanation: 'x', to: 5 };
    return turn === 0
      ? { calls: [{ name: 'functions.todo_write', arguments: args }] }
      : { text: 'Done.' };
  });
  const response = await chat('go');
  const todos = [{ id: '1', content: 'Read', status: 'pending' }];
  expect(response.documents[0]).toMatchObject({ type: 'todo_update', metadata: { todos } });
  const [said, sent] = requests[1]?.messages.slice(-2) ?? [];
  expect(sent?.content).toBe(
    '- [pending] 1: Read\n[arguments ignored, as unknown or given twice: todos.priority, to]',
  );
  // APIs refuse a name with a dot in the transcript.
  expect(said).toMatchObject({ tool_calls: [{ function: { name: 'todo_write' } }] });
});

it('todo_write is not written by what a bridge says of its own tools', async () => {
  const bridge = await connectBridge();
  const requests = scriptModel((_, turn) => {
    if (turn === 0) return { calls: [todoWrite([{ id: 'a', content: 'Read' }])] };
    if (turn === 1) return { calls: [readFile('a')] };
    if (turn === 2) return { calls: [todoWrite([{ id: 'a', status: 'completed' }])] };
    return { text: 'Done.' };
  });
  const answer = chat('go', { bridgeId: bridge.bridgeId });
  const { callId } = await bridge.nextCall();
  const result = { status: 'success', data: 'x', metadata: { list: [] } } as const;
  bridge.send({ type: 'result', callId, result });
  await answer;
  expect(requests.at(-1)?.messages.at(-1)?.content).toBe('- [completed] a: Read');
});

it('todo_write keeps its list over responses and crashes', async () => {
  const requests = scriptModel(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? { text: 'Done.' }
      : { calls: [todoWrite([{ id: `t${messages.length}`, content: 'x' }])] },
  );
  const { conversationId } = await chat('go');
  await abortAllDurableObjects();
  await chat('again', { conversationId });
  expect(String(requests.at(-1)?.messages.at(-1)?.content).split('\n')).toHaveLength(2);
});

it('create_plan is a plan document with the plan as its content', async () => {
  scriptModel((_, turn) => (turn === 0 ? { calls: [PLAN] } : { text: 'Shall I?' }));
  const body = { messages: [{ role: 'user', content: 'plan it' }] };
  const response: ChatResponse = await (await call('chat/plan', { body })).json();
  expect(response).toMatchObject({ mode: 'plan', status: 'completed' });
  expect(response.documents[0]).toEqual({
    id: 'doc_001',
    type: 'plan',
    sequence: 1,
    content: PLAN.arguments.plan,
    metadata: {
      toolCallId: expect.any(String),
      title: 'Auth middleware',
      overview: 'Checks tokens.',
      todos: [
        { id: 'make', content: 'Make it', status: 'pending', dependencies: [] },
        { id: 'use', content: 'Use it', status: 'pending', dependencies: ['make'] },
      ],
      format: 'markdown',
      version: 1,
    },
  });
});

it('create_plan with todos that wait for each other is refused, and the model lays another', async () => {
  const todos = [
    { id: 'make', content: 'Make it', dependencies: ['use'] },
    { id: 'use', content: 'Use it', dependencies: ['make'] },
  ];
  const circle = { ...PLAN, arguments: { ...PLAN.arguments, todos } };
  const replies = [{ calls: [circle] }, { calls: [PLAN] }, { text: 'Shall I?' }];
  const requests = scriptModel((_, turn) => replies[turn] ?? {});
  const { conversationId, documents, status } = await chat('plan it', { mode: 'plan' });
  expect(status).toBe('completed');
  expect(requests[1]?.messages.at(-1)?.content).toContain('waits for itself');
  expect(documents.map(({ type, metadata }) => [type, metadata['errorCode']])).toEqual([
    ['plan', undefined],
    ['error', 'INVALID_ARGUMENTS'],
    ['plan', undefined],
    ['text', undefined],
  ]);
  expect(documents[0]?.metadata).toMatchObject({ result: { status: 'error' } });
  const executed = await call(`conversations/${conversationId}/plans/doc_001/execute`, {
    body: {},
  });
  expect(await errorOf(executed)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  await expectUsable(conversationId);
});

it('create_plan gives the todos that todo_write goes on with in agent mode', async () => {
  const requests = scriptModel((_, turn) => {
    if (turn === 0) return { calls: [PLAN] };
    if (turn === 2) return { calls: [todoWrite([{ id: 'make', status: 'completed' }])] };
    return { text: 'Ok.' };
  });
  const { conversationId } = await chat('plan it', { mode: 'plan' });
  await chat('do it', { conversationId, mode: 'agent' });
  const view = await readView(conversationId);
  expect(view.responses[0]?.documents[0]?.metadata['todos']).toMatchObject([
    { id: 'make', content: 'Make it', status: 'completed', dependencies: [] },
    { id: 'use', status: 'pending', dependencies: ['make'] },
  ]);
  expect(requests.at(-1)?.messages.at(-1)?.content).toBe(
    '- [completed] make: Make it\n- [pending] use: Use it',
  );
});

it('create_plan works in agent mode, and its todos follow what todo_write says', async () => {
  const added = { id: 'test', content: 'Test it' };
  scriptModel((_, turn) => {
    if (turn === 0) return { calls: [PLAN] };
    if (turn === 1) return { calls: [todoWrite([{ id: 'make', status: 'completed' }, added])] };
    return { text: 'Made.' };
  });
  const { documents } = await chat('plan it, then do it');
  expect(documents.map(({ type }) => type)).toEqual(['plan', 'todo_update', 'text']);
  expect(documents[0]?.metadata['todos']).toEqual([
    { id: 'make', content: 'Make it', status: 'completed', dependencies: [] },
    { id: 'use', content: 'Use it', status: 'pending', dependencies: ['make'] },
  ]);
});

it.each(['ask', 'debug'])('create_plan is neither offered nor run in %s mode', async (mode) => {
  const requests = scriptModel((_, turn) => (turn === 0 ? { calls: [PLAN] } : { text: 'Ok.' }));
  const response = await chat('plan it', { mode });
  const offered = requests[0]?.tools?.map((tool) => tool.function.name) ?? [];
  expect(offered).not.toContain('create_plan');
  expect(response.documents[1]).toMatchObject({
    type: 'error',
    metadata: { errorCode: 'WRONG_MODE', source: 'create_plan' },
  });
});

it.each([
  ['plan', ['create_plan', 'ask_question', 'switch_mode', 'task']],
  ['ask', ['switch_mode', 'task']],
])('%s mode offers what reads, and nothing that changes anything', async (mode, further) => {
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const { bridgeId } = await connectBridge();
  await chat('look', { mode, bridgeId });
  expect(requests[0]?.tools?.map((tool) => tool.function.name)).toEqual([
    ...['read_file', 'list_dir', 'glob_file_search', 'grep', 'codebase_search', 'read_lints'],
    ...['web_fetch', 'web_search', 'read_process', ...further],
  ]);
  expect(String(requests[0]?.messages.at(-1)?.content)).toContain('<system_reminder>');
});

it('plan mode is the mode of chat/plan, whatever the request names, and keeps what planning needs', async () => {
  const requests = scriptModel((_, turn) => (turn === 0 ? { calls: [PLAN] } : { text: 'So.' }));
  const { bridgeId } = await connectBridge();
  const body = {
    messages: [{ role: 'user', content: 'x' }],
    mode: 'agent',
    bridgeId,
    tools: ['codebase_search', 'read_file', 'edit_file', 'grep'],
  };
  const response: ChatResponse = await (await call('chat/plan', { body })).json();
  expect(response).toMatchObject({ mode: 'plan', documents: [{ type: 'plan' }, {}] });
  expect(requests[0]?.tools?.map((tool) => tool.function.name)).toEqual([
    ...['read_file', 'grep', 'codebase_search', 'create_plan', 'ask_question'],
  ]);
  expect(response.metadata.unavailableTools).toMatchObject([
    { name: 'edit_file', code: 'WRONG_MODE' },
  ]);
});

it('plan mode lets chat/plan ask nothing where the request says so', async () => {
  const requests = scriptModel(() => ({ text: 'So.' }));
  const tools = { ask_question: { enabled: false } };
  const body = { messages: [{ role: 'user', content: 'x' }], availableTools: tools };
  await call('chat/plan', { body });
  expect(requests[0]?.tools?.map((tool) => tool.function.name)).toEqual(['create_plan']);
});

it('ask_question waits for an answer, from any device, and goes on with it', async () => {
  const { model, reader, responseId, conversationId } = await startAsking();
  expect(await readResponse(responseId)).toMatchObject({
    status: 'waiting',
    documents: [
      {
        type: 'clarification',
        content: 'Before I go on:',
        metadata: { questions: ASKED, awaiting: true },
      },
    ],
  });
  const answered = await answer(conversationId, [{ questionId: 'q1', optionIds: ['jwt'] }]);
  expect(answered.status).toBe(200);
  const next = await model.next();
  expect(next.request.messages.at(-1)?.content).toBe('JWT or session?\n-> JWT (jwt)');
  next.answer({ text: 'JWT it is.' });
  const events = await reader.toEnd();
  expect(events.map(({ event }) => event.type)).toContain('clarification_request');
  const { documents, status } = await readResponse(responseId);
  expect(status).toBe('completed');
  expect(documents[0]?.metadata).toEqual({
    toolCallId: expect.any(String),
    questions: ASKED,
    answers: [{ questionId: 'q1', optionIds: ['jwt'] }],
  });
  const late = await errorOf(await answer(conversationId, []));
  expect(late).toMatchObject({ status: 409, code: 'ALREADY_ANSWERED' });
});

it('ask_question can be passed over, or answered in other words', async () => {
  const { model, reader, conversationId } = await startAsking();
  await answer(conversationId, [{ questionId: 'q1', text: 'Basic auth' }]);
  const next = await model.next();
  expect(next.request.messages.at(-1)?.content).toBe('JWT or session?\n-> Basic auth');
  next.answer({ calls: [QUESTIONS] });
  await reader.until((events) => events.filter(isQuestion).length === 2);
  await answer(conversationId, [], 'doc_002');
  const last = await model.next();
  expect(last.request.messages.at(-1)?.content).toContain('no answer');
  last.answer({ text: 'Fine.' });
  await reader.toEnd();
});

it('ask_question ends the JSON answer with the question, and the run goes on when it is answered', async () => {
  const requests = scriptModel((_, turn) =>
    turn === 0 ? { calls: [QUESTIONS] } : { text: 'JWT it is.' },
  );
  const { status, documents, id, conversationId } = await chat('go', { mode: 'plan' });
  expect({ status, types: documents.map(({ type }) => type) }).toEqual({
    status: 'waiting',
    types: ['clarification'],
  });
  await answer(conversationId, [{ questionId: 'q1', optionIds: ['jwt'] }]);
  await new SseReader(await call(`chat/completions/${id}/events`)).toEnd();
  expect(await readResponse(id)).toMatchObject({ status: 'completed' });
  expect(requests).toHaveLength(2);
});

it('ask_question outlives a crash', async () => {
  const { model, reader, conversationId } = await startAsking();
  await abortAllDurableObjects();
  await answer(conversationId, [{ questionId: 'q1', optionIds: ['session'] }]);
  (await model.next()).answer({ text: 'Session it is.' });
  expect((await reader.toEnd()).at(-1)?.event).toMatchObject({ status: 'completed' });
  expect(model.count).toBe(2);
});

it('ask_question gives way to a message that is written instead of an answer', async () => {
  const { model, reader, conversationId } = await startAsking();
  const sent = await ask('Forget it.', { conversationId, stream: true });
  const next = await model.next();
  expect(next.request.messages.at(-1)?.content).toContain('wrote a message');
  next.answer({ text: 'All right.' });
  (await model.next()).answer({ text: 'Forgotten.' });
  await new SseReader(sent).toEnd();
  expect((await reader.toEnd()).at(-1)?.event).toMatchObject({ status: 'completed' });
});

it('ask_question ends with the run that asked', async () => {
  const { reader, responseId, conversationId } = await startAsking();
  await call(`chat/completions/${responseId}/cancel`, { method: 'POST' });
  expect((await reader.toEnd()).at(-1)?.event).toMatchObject({ status: 'cancelled' });
  expect(await errorOf(await answer(conversationId, []))).toMatchObject({ status: 409 });
});

it('ask_question is given up when no one answers in time', async () => {
  const { model, reader, conversationId } = await startAsking();
  vi.setSystemTime(Date.now() + RUN_LIMITS.approvalMs + 1000);
  try {
    await runDurableObjectAlarm(conversationObject(conversationId));
    const next = await model.next();
    expect(next.request.messages.at(-1)?.content).toContain('NOT_ANSWERED');
    next.answer({ text: 'Then not.' });
    await reader.toEnd();
  } finally {
    vi.useRealTimers();
  }
});

it('ask_question leaves the calls after it no more time than others', async () => {
  const bridge = await connectBridge();
  const { model, reader, conversationId } = await startAsking({ bridgeId: bridge.bridgeId });
  await answer(conversationId, []);
  (await model.next()).answer({ calls: [readFile('a')] });
  await bridge.nextCall();
  vi.setSystemTime(Date.now() + RUN_LIMITS.callDeadlineMs + 1000);
  try {
    await runDurableObjectAlarm(conversationObject(conversationId));
    const next = await model.next();
    expect(next.request.messages.at(-1)?.content).toContain('DEADLINE_PASSED');
    next.answer({ text: 'Then not.' });
    await reader.toEnd();
  } finally {
    vi.useRealTimers();
  }
});

it('ask_question was answered, also for who asks after the object has slept', async () => {
  const { model, reader, conversationId } = await startAsking();
  await answer(conversationId, []);
  (await model.next()).answer({ text: 'Ok.' });
  await reader.toEnd();
  await abortAllDurableObjects();
  expect(await errorOf(await answer(conversationId, []))).toMatchObject({
    status: 409,
    code: 'ALREADY_ANSWERED',
  });
});

it.each<[string, object[], string]>([
  ['another question', [{ questionId: 'q9', optionIds: [] }], 'answers[0].questionId'],
  ['another option', [{ questionId: 'q1', optionIds: ['x'] }], 'answers[0].optionIds'],
  ['two options of one', [{ questionId: 'q1', optionIds: ['jwt', 'session'] }], 'only one'],
  ['the same one twice', [{ questionId: 'q1' }, { questionId: 'q1' }], 'answers[1].questionId'],
  ['something of a wrong type', [{ questionId: 1 }], 'answers[0].questionId'],
])('ask_question does not take an answer to %s', async (_, answers, message) => {
  const { model, reader, conversationId } = await startAsking();
  expect(await errorOf(await answer(conversationId, answers))).toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
    message: expect.stringContaining(message),
  });
  await answer(conversationId, []);
  (await model.next()).answer({ text: 'Ok.' });
  await reader.toEnd();
  await expectUsable(conversationId);
});

it('ask_question takes no answer where nothing was asked', async () => {
  scriptModel(() => ({ text: 'I ask nothing.' }));
  const { conversationId } = await chat('go');
  for (const document of ['doc_001', 'doc_002', 'nothing']) {
    const refused = await errorOf(await answer(conversationId, [], document));
    expect(refused).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  }
  await expectUsable(conversationId);
});

it('ask_question takes no answer that was meant for another response', async () => {
  const { model, reader, conversationId, responseId } = await startAsking();
  const path = `conversations/${conversationId}/clarifications/doc_001`;
  const earlier = `${responseId.slice(0, -4)}0002`;
  const late = await call(path, { body: { responseId: earlier, answers: [] } });
  expect(await errorOf(late)).toMatchObject({ status: 409, code: 'ALREADY_ANSWERED' });
  expect((await call(path, { body: { responseId, answers: [] } })).status).toBe(200);
  (await model.next()).answer({ text: 'Ok.' });
  await reader.toEnd();
});

it('ask_question is no one else’s to answer', async () => {
  const { model, reader, conversationId } = await startAsking();
  const path = `conversations/${conversationId}/clarifications/doc_001`;
  const foreign = await call(path, { body: { answers: [] }, account: 'eve' });
  expect(foreign.status).toBe(404);
  const nowhere = `conversations/${conversationId}/clarifications/doc_007`;
  expect((await call(nowhere, { body: { answers: [] } })).status).toBe(404);
  await answer(conversationId, []);
  (await model.next()).answer({ text: 'Ok.' });
  await reader.toEnd();
});

it('ask_question waits beside calls that the bridge runs', async () => {
  const { model, bridge, reader, conversationId } = await askAtBridge();
  (await model.next()).answer({ calls: [readFile('a'), QUESTIONS] });
  bridge.succeed((await bridge.nextCall()).callId, 'content');
  await bridge.next('ack');
  expect(model.count).toBe(1);
  await answer(conversationId, [{ questionId: 'q1', optionIds: ['jwt'] }], 'doc_002');
  const next = await model.next();
  expect(next.request.messages.slice(-2).map(({ content }) => content)).toEqual([
    'content',
    'JWT or session?\n-> JWT (jwt)',
  ]);
  next.answer({ text: 'Both.' });
  await reader.toEnd();
});

function isQuestion({ event }: ReadEvent): boolean {
  return event.type === 'clarification_request';
}

function todoWrite(todos: object[]) {
  return { name: 'todo_write', arguments: { todos } };
}

async function startAsking(more: Parameters<typeof askStreamed>[0] = {}) {
  const model = holdModel();
  const asked = await askStreamed(more);
  (await model.next()).answer({ calls: [QUESTIONS] });
  await asked.reader.untilType('clarification_request');
  return { model, ...asked };
}

function answer(conversationId: string, answers: object[], document = 'doc_001') {
  return call(`conversations/${conversationId}/clarifications/${document}`, { body: { answers } });
}
