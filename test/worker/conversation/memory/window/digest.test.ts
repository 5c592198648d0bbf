import { expect, it } from 'vitest';
import type { Todo } from '../../../../../shared/wire/documents.ts';
import { digestOf } from '../../../../../worker/conversation/memory/window/digest.ts';
import type {
  ModelHistory,
  SaidInRun,
} from '../../../../../worker/conversation/memory/window/transcript.ts';
import type { Digest } from '../../../../../worker/conversation/store/rows.ts';
import { historyOf, type MadeRun } from './histories.ts';

const TODO: Todo = { id: 'a', content: 'Do it', status: 'pending', dependencies: [] };
const CUT = { window: { from: { run: 2, turns: 0 } }, room: 100_000 };
const SCALE = { since: 0, tokensPerChar: 0.25, refused: null };
const BEFORE: Digest = {
  summary: 'What was before.',
  words: ['Zeroth.'],
  plan: '# Old plan',
  todos: [TODO],
};

it('keeps a plan that a person changed or executed, and its todos, but not as words of the user', () => {
  const todos = [{ ...TODO, content: 'Do it well' }];
  const plan = { version: 2, title: 'Auth', overview: 'JWT.', content: 'Edited.', todos };
  const laid = { name: 'Auth', overview: 'JWT.', plan: 'First this.' };
  const call = { name: 'create_plan', arguments: laid, result: 'ok', todos: [TODO] };
  const history = historyOf([
    { asked: 'First.', turns: [{ calls: [call] }] },
    { asked: 'Second.', turns: [] },
  ]);
  const kept = { words: ['First.'], plan: '# Auth\n\nJWT.\n\nEdited.', todos };
  const changed = withFirst(history, (sent) => ({
    ...sent,
    steers: [{ number: 1, run: 1, turns: null, content: '', plan }],
  }));
  expect(digestOf(changed, CUT, 'S')).toMatchObject(kept);
  const executed = withFirst(history, ({ run, ...sent }) => ({
    ...sent,
    run: { ...run, request: { ...run.request, plan } },
    turns: [],
  }));
  expect(digestOf(executed, CUT, 'S')).toMatchObject(kept);
});

function withFirst(history: ModelHistory, change: (sent: SaidInRun) => SaidInRun): ModelHistory {
  return {
    ...history,
    sent: history.sent.map((sent, index) => (index === 0 ? change(sent) : sent)),
  };
}

it('keeps the words of the user, the newest plan and the newest todos beside the summary', () => {
  const todos = [{ ...TODO, status: 'completed' as const }];
  const laid = { name: 'Auth', overview: 'JWT.', plan: 'First this.' };
  const history = historyOf([
    {
      asked: 'First.',
      earlier: ['Hello.', 'Hi.'],
      turns: [
        { calls: [{ name: 'create_plan', arguments: laid, result: 'ok', todos: [TODO] }] },
        { calls: [{ name: 'create_plan', arguments: { ...laid, plan: '' }, result: 'ok' }] },
        { calls: [{ name: 'todo_write', result: 'ok', todos }], steer: 'Quickly.' },
      ],
    },
    { asked: 'Second.', turns: [{ calls: [{ name: 'todo_write', result: 'ok', todos: [] }] }] },
  ]);
  expect(digestOf(history, CUT, ' The summary. ')).toEqual({
    summary: 'The summary.',
    words: ['Hello.', 'First.', 'Quickly.'],
    plan: '# Auth\n\nJWT.\n\nFirst this.',
    todos,
  });
});

it('carries over what the digest before it held', () => {
  const history = withDigest([{ asked: 'First.', turns: [{ text: 'Done.' }] }, { asked: 'On.' }]);
  expect(digestOf(history, CUT, 'New.')).toEqual({
    ...BEFORE,
    summary: 'New.',
    words: ['Zeroth.', 'First.'],
  });
});

it.each([null, ' \n'])('lists what was done where the model gave %j', (summary) => {
  const calls = [
    { name: 'Read', arguments: { path: 'a.ts' }, result: 'x' },
    { name: 'run_terminal_cmd', arguments: { command: 'npm test\n--quiet' }, error: 'TIMEOUT' },
    { name: 'nonsense', arguments: {} },
  ];
  const turns = [{ text: '\nI look.\nMore.', calls }];
  const history = withDigest([{ asked: 'First.', turns }, { asked: 'On.' }]);
  expect(digestOf(history, CUT, summary).summary).toBe(
    [
      'What was before.',
      '',
      'No summary could be made of this part. What was done in it, oldest first:',
      '- I look.',
      '- read_file a.ts: ok',
      '- run_terminal_cmd npm test: failed (TIMEOUT)',
      '- nonsense: cancelled',
    ].join('\n'),
  );
});

it('stays bounded however often no summary comes', () => {
  let digest = BEFORE;
  for (let round = 0; round < 5; round++) {
    const turns = Array.from({ length: 500 }, (_, index) => ({ text: `${round}: step ${index}` }));
    const history = withDigest([{ asked: 'x'.repeat(9_000), turns }, { asked: 'On.' }], digest);
    digest = digestOf(history, { ...CUT, room: 20_000 }, null);
    expect(digest.summary.length).toBeLessThanOrEqual(2_000);
    expect(digest.words.join('').length).toBeLessThanOrEqual(10_000);
  }
  expect(digest.summary).toMatch(/- \[older entries are left out\]\n[\s\S]*4: step 499$/);
});

function withDigest(runs: readonly MadeRun[], digest: Digest = BEFORE): ModelHistory {
  const from = { run: 1, turns: 0 };
  return historyOf(runs, { from, prunedThrough: 0, digest, usage: null, scale: SCALE });
}
