import { abortAllDurableObjects, runDurableObjectAlarm } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import type { DefinitionSet, ModeDefinition } from '../../../shared/wire/definitions.ts';
import type { ChatResponse } from '../../../shared/wire/documents.ts';
import type { ScriptedRequest } from '../../far-ends/reply-script.ts';
import { ask, call, chat, errorOf, scriptModel } from '../api.ts';
import { SseReader } from '../follow/sse-reader.ts';
import { configure } from '../settings.ts';
import { connectLookingBridge, contextOf } from '../tunnel/scripted-bridge.ts';
import {
  askAtBridge,
  askHeld,
  askStreamed,
  conversationObject,
  readResponse,
  startAnswer,
} from './conversing.ts';
import { holdModel, readFile, runCommand } from './held-model.ts';

const REVIEW: ModeDefinition = {
  name: 'review',
  base: 'ask',
  path: '.drawbridge/modes/review.md',
  text: 'Look for <b> holes.',
  tools: ['read_file', 'switch_mode'],
  model: 'large',
};

const SHORT: ModeDefinition = {
  name: 'short',
  base: 'agent',
  path: '.drawbridge/modes/short.md',
  text: 'Be short.',
};

it('a mode of the workspace narrows its base mode, and is sent as text of the workspace', async () => {
  const { bridgeId } = await bridgeWith([REVIEW]);
  const requests = scriptModel((_, turn) =>
    turn === 0
      ? { calls: [runCommand('make'), { name: 'grep', arguments: { pattern: 'x' } }] }
      : { text: 'Ok.' },
  );
  const response = await chat('look', { bridgeId, mode: 'review' });
  expect(response).toMatchObject({ mode: 'ask', ownMode: 'review', status: 'completed' });
  expect(toolNames(requests[0])).toEqual(['read_file', 'switch_mode']);
  expect(String(requests[0]?.messages[0]?.content)).toContain('Ask mode: change nothing.');
  expect(String(requests[0]?.messages[1]?.content)).toContain(
    '<own_mode>\nreview (.drawbridge/modes/review.md)\nLook for &lt;b&gt; holes.\n</own_mode>',
  );
  const results = requests[1]?.messages.slice(-2).map(({ content }) => content);
  expect(results?.[0]).toContain('READ_ONLY_MODE');
  expect(results?.[1]).toContain('grep is not for the mode review.');
});

it('a mode of the workspace is sent once, and its end too', async () => {
  const { bridgeId } = await bridgeWith([SHORT]);
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const { conversationId } = await chat('one', { bridgeId, mode: 'short' });
  await chat('two', { conversationId, mode: 'short' });
  await chat('three', { conversationId });
  const said = userMessages(requests[2]);
  expect(said[0]).toContain('Be short.');
  expect(said[1]).toBe('<user_query>\ntwo\n</user_query>');
  expect(said[2]).toContain('[The mode short of the workspace no longer applies.]');
  expect(requests[2]?.messages.slice(0, 4)).toEqual([...(requests[1]?.messages ?? []).slice(0, 4)]);
});

it('a mode of the workspace chooses the model where the request leaves it open and the table has it', async () => {
  configure({
    MODELS: ['small', 'large'].map((id) => ({ id, baseUrl: 'http://model.test/v1' })),
  });
  const { bridgeId } = await bridgeWith([REVIEW, { ...SHORT, model: 'unknown' }]);
  scriptModel(() => ({ text: 'Ok.' }));
  expect((await chat('x', { bridgeId, mode: 'review' })).model).toBe('large');
  expect((await chat('x', { bridgeId, mode: 'review', model: 'small' })).model).toBe('small');
  expect((await chat('x', { bridgeId, mode: 'short' })).model).toBe('scripted');
});

it('a mode of the workspace that no one defines is refused before anything is stored', async () => {
  const broken = { path: '.drawbridge/modes/broken.md', reason: 'its head has no end' };
  const { bridgeId } = await bridgeWith([SHORT], [broken]);
  const requests = scriptModel(() => ({ text: 'Ok.' }));
  const unread = await errorOf(await ask('x', { bridgeId, mode: 'broken' }));
  expect(unread.message).toContain(
    '(.drawbridge/modes/broken.md defines none: its head has no end)',
  );
  const refused = await errorOf(await ask('x', { bridgeId, mode: 'long' }));
  expect(refused).toEqual({
    status: 400,
    code: 'UNKNOWN_MODE',
    message: 'mode: there is no mode long here: use one of agent, plan, ask, debug, short',
    details: { modes: ['agent', 'plan', 'ask', 'debug', 'short'] },
  });
  const { conversationId } = await chat('x', { bridgeId });
  const again = await errorOf(await ask('y', { conversationId, mode: 'long' }));
  expect(again.code).toBe('UNKNOWN_MODE');
  const { messages } = await (await call(`conversations/${conversationId}`)).json<{
    messages: object[];
  }>();
  expect(messages).toHaveLength(1);
  expect(requests).toHaveLength(1);
});

it('a mode of the workspace that is gone when its run starts ends that run with an error', async () => {
  const bridge = await bridgeWith([SHORT]);
  const { reader, conversationId, reply: first } = await startAnswer({ bridgeId: bridge.bridgeId });
  const queued = await ask('later', { conversationId, mode: 'short', stream: true });
  bridge.sees = contextOf('a.ts');
  first.answer({ text: 'Ok.' });
  await reader.toEnd();
  const events = await new SseReader(queued).toEnd();
  expect(events.at(-1)?.event).toMatchObject({ type: 'done', status: 'error' });
  const response = await readResponse(queued.headers.get('drawbridge-response-id') ?? '');
  expect(response).toMatchObject({
    mode: 'ask',
    documents: [{ type: 'error', metadata: { errorCode: 'UNKNOWN_MODE' } }],
  });
});

it('a mode of the workspace stays with its waiting run when it starts', async () => {
  const bridge = await bridgeWith([SHORT]);
  const {
    model,
    reader,
    conversationId,
    reply: first,
  } = await startAnswer({ bridgeId: bridge.bridgeId });
  const queued = await ask('later', { conversationId, mode: 'short', stream: true });
  first.answer({ text: 'Ok.' });
  await reader.toEnd();
  const second = await model.next();
  await abortAllDurableObjects();
  expect(userMessages(second.request).at(-1)).toContain('Be short.');
  const responseId = queued.headers.get('drawbridge-response-id') ?? '';
  expect(await readResponse(responseId)).toMatchObject({ mode: 'agent', ownMode: 'short' });
  (await model.next()).answer({ text: 'Short.' });
  await new SseReader(await call(`chat/completions/${responseId}/events`)).toEnd();
});

it('switch_mode goes on in the new mode from the next turn on, once the person agrees', async () => {
  const { model, reader, conversationId, responseId, bridge, request } = await startSwitching();
  expect(await readResponse(responseId)).toMatchObject({
    status: 'waiting',
    mode: 'plan',
    documents: [{ type: 'clarification', content: 'You want it made.' }, {}, {}],
  });
  expect(await accept(conversationId)).toBe(200);
  const next = await model.next();
  expect(next.request.messages.slice(0, request.messages.length)).toEqual(request.messages);
  const [result, refused, sent] = next.request.messages.slice(-3);
  expect(String(result?.content)).toMatch(/Yes, go on in agent mode \(accept\)\nThe user agreed/);
  expect(String(refused?.content)).toContain('READ_ONLY_MODE');
  expect(String(sent?.content)).toMatch(
    /^\[The user has changed the mode.*Mode: agent\.\nAgent mode/s,
  );
  expect(toolNames(next.request)).toContain('run_terminal_cmd');
  next.answer({ calls: [runCommand('make')] });
  const made = await bridge.nextCall();
  expect(made).toMatchObject({ tool: 'run_terminal_cmd', mode: 'agent' });
  bridge.succeed(made.callId, 'made');
  (await model.next()).answer({ text: 'Made.' });
  const events = (await reader.toEnd()).map(({ event }) => event);
  expect(events).toContainEqual({ type: 'mode_update', responseId, mode: 'agent' });
  expect(await readResponse(responseId)).toMatchObject({ status: 'completed', mode: 'agent' });
});

it('switch_mode shows the new mode in the words of the deployment', async () => {
  configure({
    PROMPT_BLOCKS: [
      { change: 'replace', block: 'mode', text: 'Do it at once.', modes: ['agent'] },
      { change: 'append', block: 'code_changes', text: 'Use tabs.' },
      { change: 'replace', block: 'mode', text: 'Never sent.', models: ['another'] },
    ],
  });
  const { model, reader, conversationId } = await startSwitching();
  await accept(conversationId);
  const next = await model.next();
  const sent = String(next.request.messages.at(-1)?.content);
  expect(sent).toMatch(/Mode: agent\.\nDo it at once\.\nRead a file .*\nUse tabs\.$/s);
  next.answer({ text: 'Ok.' });
  await reader.toEnd();
});

it('switch_mode outlives a crash between the consent and the next turn', async () => {
  const { model, conversationId, responseId } = await startSwitching();
  await accept(conversationId);
  await model.next();
  await abortAllDurableObjects();
  await readResponse(responseId);
  const next = await model.next();
  expect(toolNames(next.request)).toContain('run_terminal_cmd');
  expect(userMessages(next.request).at(-1)).toContain('Mode: agent.');
  next.answer({ text: 'Ok.' });
  await new SseReader(await call(`chat/completions/${responseId}/events`)).toEnd();
  // The next message has its own mode again, and says so.
  const later = chat('more', { conversationId, mode: 'plan' });
  const last = await model.next();
  expect(userMessages(last.request).slice(1)).toEqual([
    expect.stringContaining('Mode: agent.'),
    expect.stringMatching(/Mode: plan\.\nChange nothing from here on\.[\s\S]*more/),
  ]);
  last.answer({ text: 'Ok.' });
  await later;
});

it('switch_mode counts one answer of several devices', async () => {
  const { model, reader, conversationId } = await startSwitching();
  const answers = await Promise.all([accept(conversationId), reject(conversationId)]);
  expect(answers.sort()).toEqual([200, 409]);
  (await model.next()).answer({ text: 'Ok.' });
  await reader.toEnd();
});

it.each([
  ['says no', () => reject],
  ['answers in other words', () => (id: string) => answer(id, { text: 'accept it later' })],
  ['passes it over', () => (id: string) => send(id, [])],
])('switch_mode stays in the mode when the person %s', async (_, how) => {
  const { model, reader, conversationId, responseId } = await startSwitching();
  await how()(conversationId);
  const next = await model.next();
  expect(toolNames(next.request)).not.toContain('run_terminal_cmd');
  expect(JSON.stringify(next.request.messages)).toContain('The mode stays as it is.');
  next.answer({ text: 'Then not.' });
  await reader.toEnd();
  expect(await readResponse(responseId)).toMatchObject({ mode: 'plan' });
});

it('switch_mode is no consent when no one answers, whatever the request says of questions', async () => {
  const questions = { afterSeconds: 60, otherwise: 'default' };
  const { model, reader, conversationId } = await startSwitching({ questions });
  await passTime(conversationId, 61_000);
  const next = await model.next();
  expect(toolNames(next.request)).not.toContain('run_terminal_cmd');
  expect(JSON.stringify(next.request.messages)).toContain(
    'No one answered in time. The mode stays',
  );
  next.answer({ text: 'Then not.' });
  await reader.toEnd();
});

it('switch_mode is refused where no one may be asked, for the present mode, and for one that there is not', async () => {
  const { bridgeId } = await bridgeWith([SHORT]);
  const requests = scriptModel((_, turn) =>
    turn === 0
      ? { calls: [switchTo('agent'), switchTo('plan'), switchTo('long')] }
      : { text: 'Ok.' },
  );
  await chat('x', { bridgeId, mode: 'plan', questions: { allowed: false } });
  expect(toolNames(requests[0])).not.toContain('switch_mode');
  expect(results(requests[1])[0]).toContain('TOOL_NOT_OFFERED');
  requests.length = 0;
  scriptModel((_, turn) =>
    turn === 0 ? { calls: [switchTo('plan'), switchTo('long')] } : { text: 'Ok.' },
  );
  const { documents } = await chat('x', { bridgeId, mode: 'plan' });
  const codes = documents.map(({ metadata }) => metadata['errorCode']).filter(Boolean);
  expect(codes).toEqual(['INVALID_ARGUMENTS', 'UNKNOWN_MODE']);
});

it('switch_mode leads into a mode of the workspace too', async () => {
  const bridge = await bridgeWith([REVIEW]);
  const { model, reader, conversationId, responseId } = await askHeld({
    bridgeId: bridge.bridgeId,
  });
  (await model.next()).answer({ calls: [switchTo('review')] });
  await reader.untilType('clarification_request');
  await accept(conversationId);
  const next = await model.next();
  expect(toolNames(next.request)).toEqual(['read_file', 'switch_mode']);
  expect(userMessages(next.request).at(-1)).toContain('holes.\n</own_mode>');
  next.answer({ calls: [readFile('a')] });
  const read = await bridge.nextCall();
  expect(read.mode).toBe('ask');
  bridge.succeed(read.callId, 'a');
  (await model.next()).answer({ text: 'Fine.' });
  await reader.toEnd();
  expect(await readResponse(responseId)).toMatchObject({ mode: 'ask', ownMode: 'review' });
});

it('questions that no one answers get their first options where the request says so', async () => {
  const { model, reader, conversationId } = await startAsking({ otherwise: 'default' });
  await passTime(conversationId, 61_000);
  const next = await model.next();
  expect(next.request.messages.at(-1)?.content).toBe(
    'No one answered in time. The first options count:\nWhich?\n-> One (1)',
  );
  next.answer({ text: 'One.' });
  await reader.toEnd();
});

it('questions that no one answers end the run where the request says so', async () => {
  const { reader, responseId, conversationId } = await startAsking({ otherwise: 'stop' });
  await passTime(conversationId, 61_000);
  expect((await reader.toEnd()).at(-1)?.event).toMatchObject({ type: 'done', status: 'error' });
  const { documents } = await readResponse(responseId);
  expect(documents.at(-1)?.metadata).toMatchObject({ errorCode: 'QUESTIONS_UNANSWERED' });
  expect(await answer(conversationId, { optionIds: ['1'] })).toBe(409);
});

it('questions that no one answers are decided by the agent where the request says only how long', async () => {
  const { model, reader, conversationId } = await startAsking({});
  await passTime(conversationId, 30_000);
  expect((await readResponse(await newest(conversationId))).status).toBe('waiting');
  await passTime(conversationId, 61_000);
  const next = await model.next();
  expect(next.request.messages.at(-1)?.content).toContain('Decide yourself');
  next.answer({ text: 'Two.' });
  await reader.toEnd();
});

it('questions that no one answers still take an answer in time, also after a crash', async () => {
  const { model, reader, conversationId } = await startAsking({ otherwise: 'stop' });
  await abortAllDurableObjects();
  expect(await answer(conversationId, { optionIds: ['2'] })).toBe(200);
  const next = await model.next();
  expect(next.request.messages.at(-1)?.content).toBe('Which?\n-> Two (2)');
  next.answer({ text: 'Two.' });
  await reader.toEnd();
});

it.each([
  ['no time', { afterSeconds: 0 }],
  ['more than a day', { afterSeconds: 86_401 }],
  ['another end', { otherwise: 'guess' }],
  ['a field that there is not', { after: 1 }],
])('questions that no one answers need a policy with a meaning: %s', async (_, questions) => {
  const refused = await errorOf(await ask('x', { questions }));
  expect(refused).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  expect(refused.message).toMatch(/^questions/);
});

async function bridgeWith(modes: ModeDefinition[], leftOut: DefinitionSet['leftOut'] = []) {
  const bridge = await connectLookingBridge();
  bridge.sees = { ...contextOf('a.ts'), definitions: { modes, agents: [], leftOut } };
  return bridge;
}

/** A run in plan mode whose model asks for agent mode, and in the same reply for what only that mode allows. */
async function startSwitching(more: object = {}) {
  const { model, bridge, ...asked } = await askAtBridge({ mode: 'plan', ...more });
  const first = await model.next();
  first.answer({ calls: [switchTo('agent'), runCommand('make')] });
  await asked.reader.untilType('clarification_request');
  return { ...asked, model, bridge, request: first.request };
}

async function startAsking(questions: object) {
  const model = holdModel();
  const asked = await askStreamed({ questions: { afterSeconds: 60, ...questions } });
  const options = ['One', 'Two'].map((label, index) => ({ id: String(index + 1), label }));
  const args = { questions: [{ id: 'switch', prompt: 'Which?', options }] };
  (await model.next()).answer({ calls: [{ name: 'ask_question', arguments: args }] });
  await asked.reader.untilType('clarification_request');
  return { ...asked, model };
}

function switchTo(mode: string) {
  return { name: 'switch_mode', arguments: { mode, reason: 'You want it made.' } };
}

async function send(conversationId: string, answers: object[]): Promise<number> {
  const path = `conversations/${conversationId}/clarifications/doc_001`;
  return (await call(path, { body: { answers } })).status;
}

function answer(conversationId: string, more: object): Promise<number> {
  return send(conversationId, [{ questionId: 'switch', ...more }]);
}

function accept(conversationId: string): Promise<number> {
  return answer(conversationId, { optionIds: ['accept'] });
}

function reject(conversationId: string): Promise<number> {
  return answer(conversationId, { optionIds: ['reject'] });
}

async function passTime(conversationId: string, ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms);
  await runDurableObjectAlarm(conversationObject(conversationId));
}

async function newest(conversationId: string): Promise<string> {
  const { responses } = await (await call(`conversations/${conversationId}`)).json<{
    responses: ChatResponse[];
  }>();
  return responses.at(-1)?.id ?? '';
}

function toolNames(request: ScriptedRequest | undefined): string[] | undefined {
  return request?.tools?.map((tool) => tool.function.name);
}

function userMessages(request: ScriptedRequest | undefined): string[] {
  const said = request?.messages.filter(({ role }) => role === 'user') ?? [];
  return said.map(({ content }) => String(content));
}

function results(request: ScriptedRequest | undefined): string[] {
  const sent = request?.messages.filter(({ role }) => role === 'tool') ?? [];
  return sent.map(({ content }) => String(content));
}
