import { expect, it } from 'vitest';
import {
  frameOf,
  requestFor,
  upstreamIdsIn,
} from '../../../../../worker/conversation/memory/model-request.ts';
import { messagesOfHistory } from '../../../../../worker/conversation/memory/window/messages.ts';
import { wordsIn } from '../../../../../worker/conversation/memory/window/range.ts';
import {
  type ModelHistory,
  piecesOf,
} from '../../../../../worker/conversation/memory/window/transcript.ts';
import type { Digest, NewWindow, Run } from '../../../../../worker/conversation/store/rows.ts';
import { historyOf, type MadeRun, sizeOf } from './histories.ts';

const DIGEST: Digest = {
  summary: 'Read </conversation_summary> a.ts.',
  words: ['Make it <b>bold</b>.', 'In red.'],
  plan: '# Plan',
  todos: [{ id: 'a', content: 'Do it', status: 'in_progress', dependencies: [] }],
};
const WINDOW: NewWindow = {
  from: { run: 1, turns: 0 },
  prunedThrough: 0,
  digest: null,
  usage: null,
  scale: { since: 0, tokensPerChar: 0.25, refused: null },
};
const LONG = 'x'.repeat(1_000);

it('shows a digest as one marked message, in which nothing can leave its tag', () => {
  const history = historyOf(twoRuns(), { ...WINDOW, from: { run: 2, turns: 0 }, digest: DIGEST });
  const [digest, asked, ...more] = messagesOfHistory(history, sizeOf());
  expect(digest?.role).toBe('user');
  expect(digest?.content).toContain('Read &lt;/conversation_summary&gt; a.ts.');
  expect(digest?.content).toContain('<plan>\n# Plan\n</plan>');
  expect(digest?.content).toContain('- [in_progress] a: Do it');
  expect(queriesIn(digest)).toEqual(['Make it <b>bold</b>.', 'In red.']);
  expect(digest?.content).toContain('These requests are done');
  expect(queriesIn(asked)).toEqual(['Second.']);
  expect(more).toEqual([]);
});

it('begins behind whole turns, and says of a run cut so what its user still waits for', () => {
  const window = { ...WINDOW, from: { run: 1, turns: 1 }, digest: DIGEST };
  const [run] = twoRuns();
  const [digest, steer, turn, result, ...more] = messagesOfHistory(
    historyOf(run ? [run] : [], window),
    sizeOf(),
  );
  expect(digest?.content).toContain('The summary ends in the middle of the work');
  expect(digest?.content).toContain('<user_info>\nDate: 1970-01-01\n</user_info>');
  expect(queriesIn(digest)).toEqual(DIGEST.words);
  expect(queriesIn(steer)).toEqual(['And quickly.']);
  expect(turn).toMatchObject({ role: 'assistant', tool_calls: [{ id: 'call_2_0' }] });
  expect(result).toMatchObject({ role: 'tool', tool_call_id: 'call_2_0' });
  expect(more).toEqual([]);
});

it('says of a request that its user took it back, and in no words of theirs', () => {
  const turns = [{ calls: [{}], steer: 'And quickly.' }];
  const history = historyOf([{ asked: 'Go.', turns, status: 'cancelled' }, { asked: 'Hello?' }]);
  const sent = messagesOfHistory(history, sizeOf());
  expect(sent.map(({ role }) => role)).toEqual([
    ...['user', 'assistant', 'tool', 'user'],
    ...['assistant', 'user'],
  ]);
  expect(sent.at(-2)?.content).toContain('The user stopped this answer here');
  expect(wordsIn(piecesOf(history))).toEqual(['Go.', 'And quickly.', 'Hello?']);
});

it('shows a note of Drawbridge as it is, in its place, and not as words of the user', () => {
  const history = historyOf([{ asked: 'Go.', turns: [{ calls: [{}] }] }]);
  const note = {
    number: 1,
    run: 1,
    turns: 1,
    content: 'Two turns are left.',
    isNote: true,
  } as const;
  const noted = { ...history, sent: history.sent.map((sent) => ({ ...sent, steers: [note] })) };
  const sent = messagesOfHistory(noted, sizeOf());
  expect(sent.at(-1)).toEqual({ role: 'user', content: 'Two turns are left.' });
  expect(sent.slice(0, -1)).toEqual(messagesOfHistory(history, sizeOf()));
  expect(wordsIn(piecesOf(noted))).toEqual(['Go.']);
});

it('leaves results out as a note that says how long they were and what came of the call', () => {
  const calls = [
    { name: 'read_file', result: LONG },
    { name: 'run_terminal_cmd', result: LONG },
    { name: 'read_file', error: 'NOT_FOUND', result: LONG },
    { name: 'read_file', result: 'short' },
    { name: 'read_file' },
  ];
  const history = historyOf([{ asked: 'Go.', turns: [{ calls }, { calls: [{ result: LONG }] }] }], {
    ...WINDOW,
    prunedThrough: 1,
  });
  expect(resultsIn(history)).toEqual([
    'The call succeeded; its result of 1000 characters is left out to save room. Make it again if you need the result.',
    'The call was carried out; its result of 1000 characters is left out to save room. Do not repeat it: look at what it has left behind.',
    'Error NOT_FOUND: its result of 1017 characters is left out to save room.',
    'short',
    'Error CANCELLED: the call was cancelled before it had a result.',
    LONG,
  ]);
});

it('shows long results of one turn by head and tail, the short ones beside them whole', () => {
  const calls = [{ result: `A${'x'.repeat(50_000)}Z` }, { result: LONG }];
  const history = historyOf([{ asked: 'Go.', turns: [{ calls }] }], WINDOW);
  const [long = '', short] = resultsIn(history);
  expect(long).toMatch(/^Ax+\n\[\.\.\. cut here to save room \.\.\.\]\nx+Z$/);
  expect(long.length).toBe(9_000);
  expect(short).toBe(LONG);
});

it('cuts the newest results further where nothing else can give way', () => {
  const turns = [{ text: 'x'.repeat(20_000) }, { calls: [{ result: 'x'.repeat(20_000) }] }];
  const [result = ''] = resultsIn(historyOf([{ asked: 'Go.', turns }], WINDOW));
  expect(result.length).toBeGreaterThan(8_000);
  expect(result.length).toBeLessThan(9_000);
});

it('keeps the rules, and knows the ids of all calls that stand in a request', () => {
  const history = historyOf(twoRuns(), WINDOW);
  const asking = history.sent.at(-1)?.run;
  const run = { ...asking, request: { ...asking?.request, context: { rules: ['Use tabs.'] } } };
  const frame = frameOf(run as Run, sizeOf(), []);
  const request = requestFor(run as Run, frame, messagesOfHistory(history, sizeOf()));
  expect(request.messages[0]?.content).toContain('<user_rules>\nUse tabs.\n</user_rules>');
  expect(upstreamIdsIn(request)).toEqual(new Set(['call_1_0', 'call_2_0']));
});

function twoRuns(): MadeRun[] {
  const turns = [
    { calls: [{ result: 'one' }], steer: 'And quickly.' },
    { calls: [{ result: 'two' }] },
  ];
  return [{ asked: 'First.', turns }, { asked: 'Second.' }];
}

function resultsIn(history: ModelHistory): string[] {
  return messagesOfHistory(history, sizeOf()).flatMap((message) =>
    message.role === 'tool' ? [String(message.content)] : [],
  );
}

function queriesIn(message: { content?: unknown } | undefined): string[] {
  const found = String(message?.content).matchAll(/<user_query>\n([\s\S]*?)\n<\/user_query>/g);
  return [...found].map(([, query = '']) => query);
}
