import { describe, expect, it } from 'vitest';
import { findPlan } from '../../../cli/chat/plan-command.ts';
import { runChat } from '../../../cli/chat/run-chat.ts';
import { executePlan, executePlanFile } from '../../../cli/chat/turn.ts';
import type { Document } from '../../../shared/wire/documents.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from '../../client/sample-tape.ts';
import { type ScriptedApi, startScriptedApi } from '../../client/scripted-api.ts';
import { callDrawbridge } from '../called.ts';
import { scriptTerminal } from '../scripted-terminal.ts';
import { newChat } from './scripted-chat.ts';

const METADATA = { title: 'P', overview: '', todos: [], format: 'markdown', version: 1 };
const PLAN: Document = {
  id: 'doc_001',
  type: 'plan',
  sequence: 1,
  content: '# P',
  metadata: METADATA,
};
const [MESSAGE, START] = SAMPLE_TAPE as [TapeEvent, TapeEvent];
const PLAN_TAPE: TapeEvent[] = [
  MESSAGE,
  START,
  { type: 'document_start', document: { id: 'doc_001', type: 'plan', sequence: 1 } },
  { type: 'content_delta', documentId: 'doc_001', delta: '# P' },
  { type: 'document_end', documentId: 'doc_001', metadata: METADATA },
  done('completed'),
];
const NAMED = { conversationId: CONVERSATION_ID, responseId: RESPONSE_ID, documentId: 'doc_001' };

it('says after a plan how to carry it out', async () => {
  await using api = await startScriptedApi(PLAN_TAPE);
  const terminal = scriptTerminal();
  const chat = { ...newChat(api, terminal), mode: 'plan' as const };
  expect(await runChat(chat, ['Plan it'])).toBe(0);
  const line = terminal.screen().split('\n').at(-2);
  expect(line).toMatch(/^To carry out the plan: .*plan execute --conversation conv_/);
});

it('does not say it where the plan was only a part of the work', async () => {
  await using api = await startScriptedApi(PLAN_TAPE);
  const terminal = scriptTerminal();
  await runChat({ ...newChat(api, terminal), mode: 'agent' }, ['Do it']);
  expect(terminal.screen()).not.toContain('plan execute');
});

it('finds the newest plan, also in an earlier part of the conversation', async () => {
  await using api = await startScriptedApi([]);
  const later = responseId(9);
  api.answers
    .set(`GET conversations/${CONVERSATION_ID}`, view(later, [], later))
    .set(`GET conversations/${CONVERSATION_ID}?before=${later}`, view(RESPONSE_ID, [PLAN], null));
  const { client } = newChat(api, scriptTerminal());
  expect(await findPlan(client, CONVERSATION_ID)).toEqual(NAMED);
});

it('says what to do in a conversation without a plan', async () => {
  await using api = await startScriptedApi([]);
  api.answers.set(`GET conversations/${CONVERSATION_ID}`, view(RESPONSE_ID, [], null));
  const { client } = newChat(api, scriptTerminal());
  await expect(findPlan(client, CONVERSATION_ID)).rejects.toThrow('chat --mode plan');
});

it('executes the plan, and says after a failure how to go on', async () => {
  await using api = await startScriptedApi([MESSAGE, START, done('error')]);
  const terminal = scriptTerminal();
  const chat = { ...newChat(api, terminal), mode: 'agent' as const };
  expect(await executePlan(chat, NAMED)).toBe('error');
  expect(api.requests).toMatchObject([
    {
      line: `POST conversations/${CONVERSATION_ID}/plans/doc_001/execute`,
      body: { mode: 'agent', model: 'demo', responseId: RESPONSE_ID, stream: true },
    },
  ]);
  expect(terminal.screen()).toContain('To carry out the plan: ');
});

it.each([
  ['cannot be read, and names no way to go on', [], false],
  ['was read, and says how to go on', PLAN_TAPE.slice(2, -1), true],
])('executes a file whose plan %s', async (_, between, goesOn) => {
  await using api = await startScriptedApi([MESSAGE, START, ...between, done('error')]);
  const terminal = scriptTerminal();
  const chat = { ...newChat(api, terminal), mode: 'agent' as const };
  expect(await executePlanFile(chat, 'a.plan.md')).toBe('error');
  expect(terminal.screen().includes(`plan execute --conversation ${CONVERSATION_ID}`)).toBe(goesOn);
});

describe('the command', () => {
  it('saves the newest plan of the conversation under a name', async () => {
    await using api = await startScriptedApi([MESSAGE, START, done('completed')]);
    api.answers.set(`GET conversations/${CONVERSATION_ID}`, view(RESPONSE_ID, [PLAN], null));
    const { code, stdout } = await plan(api, 'save', '--name', 'big', ...OF_CONVERSATION);
    expect({ code, last: lastEvent(stdout) }).toMatchObject({ code: 0, last: { type: 'done' } });
    expect(api.requests.at(-1)).toMatchObject({
      line: `POST conversations/${CONVERSATION_ID}/plans/doc_001/save`,
      body: { responseId: RESPONSE_ID, name: 'big' },
    });
  });

  it('executes the plan of a file in a new conversation, and ends with its outcome', async () => {
    await using api = await startScriptedApi([MESSAGE, START, done('error')]);
    const args = ['--file', '.cursor/plans/a.plan.md', '--model', 'm', '--mode', 'debug', '--json'];
    const { code, stdout } = await plan(api, 'execute', ...args);
    expect({ code, last: lastEvent(stdout) }).toMatchObject({ code: 1, last: { status: 'error' } });
    expect(api.requests).toMatchObject([
      {
        line: 'POST chat/plan/execute',
        body: { path: '.cursor/plans/a.plan.md', model: 'm', mode: 'debug', stream: true },
      },
    ]);
    expect(Object(api.requests[0]?.body)).not.toHaveProperty('conversationId');
  });

  it('refuses to save where there is no plan, and says how to get one', async () => {
    await using api = await startScriptedApi([]);
    api.answers.set(`GET conversations/${CONVERSATION_ID}`, view(RESPONSE_ID, [], null));
    const { code, stderr } = await plan(api, 'save', ...OF_CONVERSATION);
    expect(code).toBe(1);
    expect(stderr).toContain('chat --mode plan');
  });

  const OF_CONVERSATION = ['--conversation', CONVERSATION_ID, '--json'];

  function plan(api: ScriptedApi, ...args: string[]) {
    return callDrawbridge(['plan', ...args, '--url', api.url, '--token', 'token']);
  }

  function lastEvent(stdout: string): unknown {
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  }
});

function done(status: 'completed' | 'error'): TapeEvent {
  const metadata = { duration_ms: 0, toolCallCount: 0, turnCount: 1 };
  return { type: 'done', responseId: RESPONSE_ID, status, usage: null, metadata };
}

function responseId(ordinal: number): string {
  return `${RESPONSE_ID.slice(0, -4)}${String(ordinal).padStart(4, '0')}`;
}

function view(id: string, documents: Document[], earlier: string | null) {
  const created = '2026-11-20T12:00:00Z';
  const response = {
    id,
    conversationId: CONVERSATION_ID,
    model: 'demo',
    mode: 'plan',
    created,
    status: 'completed',
    documents,
    usage: null,
    metadata: { duration_ms: 0, toolCallCount: 0, turnCount: 0 },
  };
  const conversation = { id: CONVERSATION_ID, title: 'Hi', archived: false, created };
  return {
    ...conversation,
    bridgeId: null,
    messages: [],
    responses: [response],
    earlier,
    position: 4,
  };
}
