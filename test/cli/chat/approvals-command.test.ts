import { expect, it } from 'vitest';
import { answerApprovals } from '../../../cli/chat/approvals-command.ts';
import { createClient } from '../../../client/index.ts';
import type { OpenApproval, OpenQuestions } from '../../../shared/wire/approvals.ts';
import { BRIDGE_ID, CALL_ID, CONVERSATION_ID, RESPONSE_ID } from '../../client/sample-tape.ts';
import { type ScriptedApi, startScriptedApi } from '../../client/scripted-api.ts';
import { type ScriptedTerminal, scriptTerminal } from '../scripted-terminal.ts';
import { newDevice } from './scripted-chat.ts';

const ITEM: OpenApproval = {
  conversationId: CONVERSATION_ID,
  responseId: RESPONSE_ID,
  documentId: 'doc_001',
  callId: CALL_ID,
  bridgeId: BRIDGE_ID,
  nonce: 'n-1',
  title: 'Gemini CLI in /work',
  proposal: { kind: 'call', tool: 'run_terminal_cmd', arguments: { command: 'npm test' } },
  reason: 'Commands ask.',
};
const QUESTIONS: OpenQuestions = {
  conversationId: CONVERSATION_ID,
  responseId: RESPONSE_ID,
  documentId: 'doc_002',
  title: 'Log in',
  questions: [{ id: 'way', text: 'Which way?', options: [{ id: 'jwt', label: 'JWT' }] }],
};
const OTHER = { ...ITEM, nonce: 'n-2', title: 'Another' };
const ANSWER = `POST conversations/${CONVERSATION_ID}/approvals/${CALL_ID}`;
const CLARIFY = `POST conversations/${CONVERSATION_ID}/clarifications/doc_002`;

it('shows what waits, and asks one after the other until one is left open', async () => {
  await using api = await listing([ITEM, OTHER, { ...ITEM, title: 'Third' }]);
  const terminal = scriptTerminal({ answers: ['n', undefined] });
  await run(api, terminal);
  expect(terminal.screen()).toMatch(
    /Gemini CLI in \/work\n[\s\S]*npm test[\s\S]*Another[\s\S]*Third/,
  );
  expect(terminal.screen().match(/Your answer was accepted/g)).toHaveLength(1);
  expect(terminal.questions).toHaveLength(2);
  const answers = api.requests.filter(({ line }) => line === ANSWER);
  expect(answers.map(({ body }) => body)).toEqual([{ nonce: 'n-1', decision: 'reject' }]);
});

it('prints each as a line of JSON, and asks nothing', async () => {
  await using api = await listing([ITEM]);
  const terminal = scriptTerminal({ piped: '' });
  await run(api, terminal, { json: true });
  expect(JSON.parse(terminal.out())).toEqual(ITEM);
  expect(terminal.questions).toEqual([]);
});

it('asks the questions of the agent after the approvals, for the response that asks them', async () => {
  await using api = await listing([ITEM], [QUESTIONS]);
  const terminal = scriptTerminal({ answers: ['n', '1'] });
  await run(api, terminal);
  expect(terminal.screen()).toMatch(/npm test[\s\S]*Log in\n[\s\S]*\? Which way\?\n {2}1 {2}JWT\n/);
  expect(terminal.screen().match(/Your answer was accepted/g)).toHaveLength(2);
  const answers = [{ questionId: 'way', optionIds: ['jwt'] }];
  expect(api.requests.filter(({ line }) => line === CLARIFY)).toEqual([
    { line: CLARIFY, body: { answers, responseId: RESPONSE_ID } },
  ]);
});

it('leaves a question open, and says where it can be answered', async () => {
  await using api = await listing([], [QUESTIONS, { ...QUESTIONS, title: 'Another' }]);
  const terminal = scriptTerminal({ answers: [undefined] });
  await run(api, terminal);
  expect(terminal.questions).toHaveLength(1);
  expect(terminal.screen()).toMatch(
    /Another[\s\S]*Answer questions in a terminal: .*approvals -C x/,
  );
  expect(api.requests.filter(({ line }) => line === CLARIFY)).toEqual([]);
});

it('shows questions where it cannot ask, as lines of JSON too', async () => {
  await using api = await listing([ITEM], [QUESTIONS]);
  const piped = scriptTerminal({ piped: '' });
  await run(api, piped);
  expect(piped.out()).toContain('? Which way?');
  const machine = scriptTerminal({ piped: '' });
  await run(api, machine, { json: true });
  const lines = machine.out().trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([ITEM, QUESTIONS]);
});

it('takes the answer of a server that lists no questions', async () => {
  await using api = await listing([ITEM]);
  api.answers.set('GET approvals', { items: [ITEM] });
  const terminal = scriptTerminal({ answers: [undefined] });
  await run(api, terminal);
  expect(terminal.screen()).toContain('npm test');
});

it('says that nothing waits', async () => {
  await using api = await listing([]);
  const terminal = scriptTerminal();
  await run(api, terminal);
  expect(terminal.screen()).toContain('No call waits');
});

async function listing(
  items: readonly OpenApproval[],
  questions: readonly OpenQuestions[] = [],
): Promise<ScriptedApi> {
  const api = await startScriptedApi([]);
  api.answers.set('GET approvals', { items, questions });
  api.answers.set(CLARIFY, { documentId: 'doc_002' });
  api.answers.set(ANSWER, { callId: CALL_ID });
  return api;
}

async function run(
  { url }: ScriptedApi,
  terminal: ScriptedTerminal,
  options = { json: false },
): Promise<void> {
  const client = createClient({ url, token: 'token' });
  const place = { client, terminal, device: await newDevice(), targetWords: ['-C', 'x'] };
  await answerApprovals(place, options);
}
