import { describe, expect, it } from 'vitest';
import { runChat } from '../../../cli/chat/run-chat.ts';
import { parseChoice, type TypedChoice } from '../../../cli/questions/clarification.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { CONVERSATION_ID, RESPONSE_ID, SAMPLE_TAPE } from '../../client/sample-tape.ts';
import { eventsAfter, NEVER, startScriptedApi, streamText } from '../../client/scripted-api.ts';
import { scriptTerminal } from '../scripted-terminal.ts';
import { newChat, requested } from './scripted-chat.ts';

const ANSWER = `POST conversations/${CONVERSATION_ID}/clarifications/doc_001`;
const QUESTIONS = [
  {
    id: 'way',
    text: 'Which way?',
    options: [
      { id: 'jwt', label: 'JWT' },
      { id: 'session', label: 'Sessions' },
    ],
  },
  { id: 'name', text: 'What name?', options: [{ id: 'auth', label: 'auth' }] },
];
const ASKED: readonly TapeEvent[] = [
  ...SAMPLE_TAPE.slice(0, 2),
  { type: 'document_start', document: { id: 'doc_001', type: 'clarification', sequence: 1 } },
  { type: 'clarification_request', documentId: 'doc_001', questions: QUESTIONS },
];
const TAPE: readonly TapeEvent[] = [
  ...ASKED,
  {
    type: 'document_end',
    documentId: 'doc_001',
    metadata: { questions: QUESTIONS, answers: [{ questionId: 'way', optionIds: ['session'] }] },
  },
  ...SAMPLE_TAPE.slice(-1),
];
/** The stream up to the questions; what follows comes when it is let go on. */
const UNTIL_ASKED = streamText(eventsAfter(TAPE, 0).slice(0, ASKED.length));

describe('a clarification', () => {
  it('is answered by numbers and words, together, and asked again where it is unclear', async () => {
    await using api = await startScriptedApi(TAPE);
    api.answers.set(ANSWER, {});
    api.fates.push({ type: 'text', text: UNTIL_ASKED, rest: requested(api, ANSWER) });
    const terminal = scriptTerminal({ answers: ['3', '2', 'login, please'] });
    expect(await runChat(newChat(api, terminal), ['Hi'])).toBe(0);
    const answers = [
      { questionId: 'way', optionIds: ['session'] },
      { questionId: 'name', optionIds: [], text: 'login, please' },
    ];
    expect(api.requests.filter(({ line }) => line === ANSWER)).toEqual([
      { line: ANSWER, body: { answers } },
    ]);
    expect(terminal.questions).toEqual([
      'Answer 1 of 2 (a number, or your own words; Enter alone skips it): ',
      'Answer 1 of 2 (a number, or your own words; Enter alone skips it): ',
      'Answer 2 of 2 (a number, or your own words; Enter alone skips it): ',
    ]);
    expect(terminal.screen()).toContain('The options are 1 to 2.');
  });

  it('that is passed over is answered with nothing', async () => {
    await using api = await startScriptedApi(TAPE);
    api.answers.set(ANSWER, {});
    api.fates.push({ type: 'text', text: UNTIL_ASKED, rest: requested(api, ANSWER) });
    expect(await runChat(newChat(api, scriptTerminal({ answers: ['', ' '] })), ['Hi'])).toBe(0);
    expect(api.requests).toContainEqual({ line: ANSWER, body: { answers: [] } });
  });

  it('is withdrawn when another device answers first', async () => {
    await using api = await startScriptedApi(TAPE);
    const terminal = scriptTerminal();
    expect(await runChat(newChat(api, terminal), ['Hi'])).toBe(0);
    expect(terminal.questions).toHaveLength(1);
    expect(api.requests.map(({ line }) => line)).not.toContain(ANSWER);
    expect(terminal.screen()).toContain('→ Sessions\n→ skipped\n');
  });

  it('whose answer comes too late says so, and the answer goes on', async () => {
    await using api = await startScriptedApi(TAPE);
    const body = { error: { code: 'ALREADY_ANSWERED', message: 'Too late.' } };
    api.fates.push({ type: 'text', text: UNTIL_ASKED, rest: requested(api, ANSWER) });
    api.fates.push({ type: 'refuse', status: 409, body });
    const terminal = scriptTerminal({ answers: ['1', '1'] });
    expect(await runChat(newChat(api, terminal), ['Hi'])).toBe(0);
    expect(terminal.screen()).toContain(
      'The answer was not accepted: error ALREADY_ANSWERED: Too late.',
    );
  });

  it('that cannot be answered here is shown, and the run is left waiting with exit code 3', async () => {
    await using api = await startScriptedApi(TAPE);
    api.fates.push({ type: 'text', text: UNTIL_ASKED, rest: NEVER });
    const terminal = scriptTerminal({ piped: 'Hi' });
    expect(await runChat(newChat(api, terminal), [])).toBe(3);
    expect([terminal.questions, terminal.out()]).toEqual([[], '']);
    expect(terminal.screen()).toMatch(
      /2 {2}Sessions[\s\S]*drawbridge\.mjs chat --conversation conv_/,
    );
    expect(api.requests).toHaveLength(1);
  });

  it('that cannot be answered here and that answers itself is shown, not asked', async () => {
    await using api = await startScriptedApi(TAPE);
    const terminal = scriptTerminal({ piped: 'Hi' });
    const questions = { afterSeconds: 60, otherwise: 'default' as const };
    expect(await runChat({ ...newChat(api, terminal), questions }, [])).toBe(0);
    expect(terminal.questions).toEqual([]);
    expect(terminal.screen()).toContain('Sessions');
  });

  it('that waits is asked when its conversation is opened again', async () => {
    await using api = await startScriptedApi(TAPE);
    const response = { id: RESPONSE_ID, status: 'waiting' as const };
    const opened = `GET conversations/${CONVERSATION_ID}?limit=1`;
    api.answers.set(opened, viewWith(response));
    api.answers.set(ANSWER, {});
    api.fates.push({ type: 'text', text: UNTIL_ASKED, rest: requested(api, ANSWER) });
    const terminal = scriptTerminal({ answers: ['1', '', undefined] });
    const chat = { ...newChat(api, terminal), conversationId: CONVERSATION_ID };
    expect(await runChat(chat, [])).toBe(0);
    expect(api.requests.map(({ line }) => line)).toEqual([
      opened,
      `GET chat/completions/${RESPONSE_ID}/events`,
      ANSWER,
      expect.stringMatching(`^GET chat/completions/${RESPONSE_ID}/events\\?after=`),
    ]);
  });
});

describe('what is typed to a question', () => {
  const [one] = QUESTIONS;
  it.each<{ typed: string; allowMultiple?: boolean; choice: TypedChoice }>([
    { typed: '  ', choice: { type: 'passed' } },
    { typed: ' 2 ', choice: chosen('session') },
    { typed: '1 1', choice: chosen('jwt') },
    { typed: '2, 1', allowMultiple: true, choice: chosen('session', 'jwt') },
    { typed: '1 2', choice: { type: 'unclear', why: 'Choose only one option.' } },
    { typed: '0', choice: { type: 'unclear', why: 'The options are 1 to 2.' } },
    {
      typed: '1 9',
      allowMultiple: true,
      choice: { type: 'unclear', why: 'The options are 1 to 2.' },
    },
    { typed: ' both\n', choice: { type: 'answer', answer: { optionIds: [], text: 'both' } } },
    { typed: '2 weeks', choice: { type: 'answer', answer: { optionIds: [], text: '2 weeks' } } },
    {
      typed: 'x'.repeat(2_001),
      choice: { type: 'unclear', why: 'An answer may have at most 2000 characters.' },
    },
  ])('$typed means $choice.type', ({ typed, allowMultiple = false, choice }) => {
    if (!one) throw new Error('There is a question.');
    expect(parseChoice(typed, { ...one, allowMultiple })).toEqual(choice);
  });
});

function chosen(...optionIds: string[]): TypedChoice {
  return { type: 'answer', answer: { optionIds } };
}

function viewWith(response: { id: string; status: 'waiting' }) {
  const created = '2026-11-20T12:00:00Z';
  const conversation = { id: CONVERSATION_ID, title: 'Hi', archived: false, created };
  const answer = {
    ...response,
    conversationId: CONVERSATION_ID,
    model: 'demo',
    mode: 'agent',
    created,
    documents: [],
    usage: null,
    metadata: { duration_ms: 0, toolCallCount: 0, turnCount: 0 },
  };
  const view = { ...conversation, bridgeId: null, messages: [], responses: [answer] };
  return { ...view, earlier: null, position: 4 };
}
