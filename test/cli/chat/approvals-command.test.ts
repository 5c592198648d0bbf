import { expect, it } from 'vitest';
import { answerApprovals } from '../../../cli/chat/approvals-command.ts';
import { createClient } from '../../../client/index.ts';
import type { OpenApproval } from '../../../shared/listings.ts';
import { BRIDGE_ID, CALL_ID, CONVERSATION_ID, RESPONSE_ID } from '../../client/sample-tape.ts';
import { type ScriptedApi, startScriptedApi } from '../../client/scripted-api.ts';
import { type ScriptedTerminal, scriptTerminal } from '../scripted-terminal.ts';
import { newDevice } from './scripted-chat.ts';

const ITEM: OpenApproval = {
  ...{ conversationId: CONVERSATION_ID, responseId: RESPONSE_ID, documentId: 'doc_001' },
  ...{ callId: CALL_ID, bridgeId: BRIDGE_ID, nonce: 'n-1', title: 'Gemini CLI in /work' },
  proposal: { kind: 'call', tool: 'run_terminal_cmd', arguments: { command: 'npm test' } },
  reason: 'Commands ask.',
};
const OTHER = { ...ITEM, nonce: 'n-2', title: 'Another' };
const ANSWER = `POST conversations/${CONVERSATION_ID}/approvals/${CALL_ID}`;

it('shows what waits, and asks one after the other until one is left open', async () => {
  await using api = await listing([ITEM, OTHER, { ...ITEM, title: 'Third' }]);
  const terminal = scriptTerminal({ answers: ['n', undefined] });
  await run(api, terminal);
  expect(terminal.screen()).toMatch(
    /Gemini CLI in \/work\n[\s\S]*npm test[\s\S]*Another[\s\S]*Third/,
  );
  expect(terminal.screen().match(/Your answer was taken/g)).toHaveLength(1);
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

it('says that nothing waits', async () => {
  await using api = await listing([]);
  const terminal = scriptTerminal();
  await run(api, terminal);
  expect(terminal.screen()).toContain('No call waits');
});

async function listing(items: readonly OpenApproval[]): Promise<ScriptedApi> {
  const api = await startScriptedApi([]);
  api.answers.set('GET approvals', { items });
  api.answers.set(ANSWER, { callId: CALL_ID });
  return api;
}

async function run(
  { url }: ScriptedApi,
  terminal: ScriptedTerminal,
  options = { json: false },
): Promise<void> {
  const client = createClient({ url, token: 'token' });
  await answerApprovals({ client, terminal, device: await newDevice() }, options);
}
