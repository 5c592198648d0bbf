import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { BRIDGE_ID, CALL_ID, RESPONSE_ID, SAMPLE_TAPE } from '../../client/sample-tape.ts';
import {
  eventsAfter,
  type ScriptedApi,
  startScriptedApi,
  streamText,
} from '../../client/scripted-api.ts';
import { HAS_TERMINALS, openPseudoTerminal, type PseudoTerminal } from '../pseudo-terminal.ts';
import { APPROVE, ASKED, CANCEL, requested } from './scripted-chat.ts';

const PROGRAM = join(import.meta.dirname, '..', 'fixtures', 'chat.ts');
const RESOLVED: TapeEvent = {
  type: 'approval_resolved',
  documentId: 'doc_002',
  callId: CALL_ID,
  decision: 'once',
  by: 'device',
};
/** Two questions about one call, the first of which somebody else answers. */
const TAPE = SAMPLE_TAPE.toSpliced(
  8,
  0,
  ...[ASKED, RESOLVED, { ...ASKED, nonce: 'n-2' }, RESOLVED],
);
const EVENTS = eventsAfter(TAPE, 0);
const part = (from: number, to?: number) => streamText(EVENTS.slice(from, to));

const LONG = Array.from({ length: 400 }, (_, index) => `${index} ${'word '.repeat(8)}end`).join(
  '\n',
);

describe.runIf(HAS_TERMINALS)('what is typed in a conversation while an answer streams', () => {
  test.each(['y', 'no, use pnpm', 'n'])('answers no question: %j', async (early) => {
    await using api = await startScriptedApi(TAPE);
    const { terminal, ask } = await startAnswer(api);
    terminal.type(`${early}\r`);
    await typedBefore();
    ask();
    await terminal.shows('kept as your next message');
    await terminal.shows(
      'Allow it? y runs this command, this once; n rejects it, and a reason may follow: ',
    );
    expect(answers(api)).toEqual([]);
    terminal.type('y\r');
    await terminal.shows(`> ${early}\n`);
    await terminal.shows('15 tokens', 2);
    expect([answers(api), messages(api)]).toEqual([['once'], ['Hi', early]]);
  });

  test('is finished first where a line was begun, and is a message then', async () => {
    await using api = await startScriptedApi(TAPE);
    const { terminal, ask } = await startAnswer(api);
    terminal.type('no, use');
    await typedBefore();
    ask();
    await terminal.shows('> no, use');
    terminal.type(' pnpm\r');
    await terminal.shows('Allow it?');
    expect(answers(api)).toEqual([]);
    terminal.type('y\r');
    await terminal.shows('15 tokens', 2);
    expect([answers(api), messages(api)]).toEqual([['once'], ['Hi', 'no, use pnpm']]);
  });

  test('for a question that somebody else has answered is no answer to the next', async () => {
    await using api = await startScriptedApi(TAPE);
    const { promise: second, resolve: askAgain } = Promise.withResolvers<string>();
    const answered = requested(api, APPROVE);
    api.answers.set(APPROVE, { callId: CALL_ID });
    api.fates.push({ type: 'text', text: part(0, 10), rest: second });
    api.fates.push({ type: 'text', text: '', rest: answered });
    const terminal = await startConversation(api);
    terminal.type('Hi\r');
    await terminal.shows('Allowed once');
    terminal.type('n\r');
    await typedBefore();
    askAgain(part(10, 11));
    await terminal.shows('Allow it?', terminal.screen().split('Allow it?').length);
    expect(answers(api)).toEqual([]);
    terminal.type('y\r');
    await terminal.shows('15 tokens');
    expect(answers(api)).toEqual(['once']);
  });

  test('is a whole paste of any size', async () => {
    await using api = await startScriptedApi(TAPE);
    const { terminal, ask } = await startAnswer(api);
    terminal.type(`${LONG.replaceAll('\n', '\r')}\r`);
    await typedBefore();
    ask();
    await terminal.shows('Allow it?');
    terminal.type('y\r');
    await terminal.shows('15 tokens', 2);
    expect([answers(api), messages(api)]).toEqual([['once'], ['Hi', LONG]]);
  });

  test('cancels it, when it is Ctrl-C', async () => {
    await using api = await startScriptedApi(TAPE);
    api.answers.set(CANCEL, { id: RESPONSE_ID, status: 'cancelled' });
    const { terminal } = await startAnswer(api);
    const cancelled = requested(api, CANCEL);
    terminal.type('\x03');
    await terminal.shows('Cancelling');
    await cancelled;
    terminal.type('\x03');
    expect((await terminal.finished).code).toBe(130);
  });
});

test.runIf(HAS_TERMINALS)('a conversation says that the bridge is back', async () => {
  const failed: TapeEvent[] = [
    {
      type: 'document_start',
      document: {
        id: 'doc_003',
        type: 'error',
        sequence: 3,
        metadata: { errorCode: 'BRIDGE_OFFLINE', source: 'write', details: 'It is offline.' },
      },
    },
    { type: 'document_end', documentId: 'doc_003' },
  ];
  await using api = await startScriptedApi(SAMPLE_TAPE.toSpliced(-1, 0, ...failed));
  const confinement = { kind: 'none', detail: 'A test.' };
  const info = { id: BRIDGE_ID, workspacePath: '/w', tools: [], confinement };
  const bridge = { ...info, connected: true, lastConnected: '2026-11-20T12:00:00Z' };
  api.answers.set('GET bridges', { items: [{ ...bridge }] });
  const terminal = await startConversation(api);
  terminal.type('Hi\r');
  await terminal.shows('15 tokens');
  terminal.type('unfinished');
  await terminal.shows('The bridge is back.\n> unfinished');
});

describe.runIf(HAS_TERMINALS)('a conversation at a terminal', () => {
  test('goes on in the mode that "/mode" names, and keeps the one before where that is no name', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = await startConversation(api);
    terminal.type('/mode\r');
    await terminal.shows('Mode: agent.\n> ');
    terminal.type('/mode plan\r');
    await terminal.shows('Mode: plan.\n> ');
    terminal.type('/mode no name\r');
    await terminal.shows('or a mode of the workspace.\n> ');
    terminal.type('Hi\r');
    await terminal.shows('15 tokens');
    terminal.type('\x04');
    expect((await terminal.finished).code).toBe(0);
    expect(requestsFor(api)).toMatchObject([{ mode: 'plan', messages: [{ content: 'Hi' }] }]);
  });

  test('says which mentions are not attached, also those of a message that steers', async () => {
    const none = (name: string) => ({ type: 'none' as const, name, reason: 'It is gone.' });
    const [said, start, ...rest] = SAMPLE_TAPE;
    if (!said || start?.type !== 'response_start') throw new Error('the tape has another start');
    const metadata = { attachments: [none('first.ts'), { type: 'file' as const, name: 'a.ts' }] };
    const started: TapeEvent = { ...start, response: { ...start.response, metadata } };
    const attachments = [none('later.ts')];
    const attached: TapeEvent = { type: 'attached', responseId: RESPONSE_ID, attachments };
    await using api = await startScriptedApi([said, started, attached, ...rest]);
    const terminal = await startConversation(api);
    terminal.type('See @a.ts and @first.ts\r');
    await terminal.shows('15 tokens');
    const shown = terminal.screen().match(/^@.*$/gm);
    expect(shown).toEqual(
      ['first.ts', 'later.ts'].map((name) => `@${name} is not attached: It is gone.`),
    );
  });
});

describe.runIf(HAS_TERMINALS)('a paste', () => {
  test.each([
    ['of many lines', LONG, `${LONG.replaceAll('\n', '\r')}\r`],
    ['of one long line', 'x'.repeat(20_000), `${'x'.repeat(20_000)}\r`],
    ['that is marked', LONG, `\x1b[200~${LONG.replaceAll('\n', '\r')}\x1b[201~\r`],
    ['of lines with CRLF', 'one\ntwo', '\x1b[200~one\r\ntwo\x1b[201~\r'],
  ])('%s is one message', async (_, message, typed) => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = await startConversation(api);
    terminal.type(typed);
    await terminal.shows('15 tokens');
    expect(messages(api)).toEqual([message]);
    terminal.type('\x04');
    expect((await terminal.finished).code).toBe(0);
  });

  test('that is marked waits for an Enter, and is gone on with', async () => {
    await using api = await startScriptedApi(SAMPLE_TAPE);
    const terminal = await startConversation(api);
    terminal.type('See: \x1b[200~one\rtwo\r\x1b[201~');
    await terminal.shows('two\n');
    terminal.type('Why?');
    await terminal.shows('Why?');
    expect(messages(api)).toEqual([]);
    terminal.type('\r');
    await terminal.shows('15 tokens');
    expect(messages(api)).toEqual(['See: one\ntwo\nWhy?']);
  });
});

/** The person's first message is sent, and its answer begins. */
async function startAnswer(api: ScriptedApi) {
  const { promise: question, resolve } = Promise.withResolvers<string>();
  api.answers.set(APPROVE, { callId: CALL_ID });
  api.fates.push({ type: 'text', text: part(0, 8), rest: question });
  api.fates.push({ type: 'text', text: '', rest: requested(api, APPROVE) });
  const terminal = await startConversation(api);
  terminal.type('Hi\r');
  await terminal.shows('$ npm test');
  return { terminal, ask: () => resolve(part(8, 9)) };
}

async function startConversation(api: ScriptedApi): Promise<PseudoTerminal> {
  const terminal = openPseudoTerminal([process.execPath, PROGRAM, api.url]);
  await terminal.shows('> ');
  return terminal;
}

/** Typing shows nothing while nothing is asked: there is no event to wait for. */
async function typedBefore(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 300));
}

function answers(api: ScriptedApi): unknown[] {
  return api.requests
    .filter(({ line }) => line === APPROVE)
    .map(({ body }) => Object(body).decision);
}

/** The content of each message that was sent. */
function messages(api: ScriptedApi): unknown[] {
  return requestsFor(api).map(({ messages }) => messages[0].content);
}

function requestsFor({ requests }: ScriptedApi) {
  const sent = requests.filter(({ line }) => line === 'POST chat/completions');
  return sent.map(({ body }) => Object(body));
}
