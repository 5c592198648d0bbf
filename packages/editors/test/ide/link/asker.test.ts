import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { aboutCall, logTo } from '../../../../../machine/log.ts';
import type { LogEntry } from '../../../../../machine/log-line.ts';
import type {
  CompanionScript,
  ScriptedCompanion,
} from '../../../../../test/far-ends/scripted-companion.ts';
import type { AnswerEntry } from '../../../../host/asker.ts';
import { identityOf } from '../../../ide/link/confirmed.ts';
import { connectFirst } from '../../../ide/link/finding.ts';
import { LINK_LIMITS } from '../../../ide/link/limits.ts';
import { editQuestion, type Linked, linkTo, logLines, start, until } from './linked.ts';

const PATH = '/w/a.txt';
let log: string[];
let withdrawing: AbortController;

beforeEach(() => {
  log = logLines();
  withdrawing = new AbortController();
});

afterEach(() => withdrawing.abort());

/** A link that is connected. */
async function connect(
  { candidate }: ScriptedCompanion,
  options?: Parameters<typeof linkTo>[1],
): Promise<Linked> {
  const linked = linkTo([candidate], options);
  await until(() => log.some((line) => line.startsWith('Connected')));
  return linked;
}

/** A new companion, and a link that is connected to it. */
async function connected(script?: CompanionScript, options?: Parameters<typeof linkTo>[1]) {
  const companion = await start(script);
  return { companion, linked: await connect(companion, options) };
}

/** The same, and a question that the companion shows. */
async function asked(...how: Parameters<typeof connected>) {
  const { companion, linked } = await connected(...how);
  const answer = ask(linked, 'two\n');
  await until(() => companion.diffs.has(PATH));
  return { companion, linked, answer };
}

async function withdraw(answer: Promise<unknown>): Promise<void> {
  withdrawing.abort();
  expect(await answer).toBeUndefined();
}

function ask({ link }: Linked, text: string, path = PATH, signal = withdrawing.signal) {
  return link.asker.ask(editQuestion(path, text), signal);
}

const callsOf = ({ calls }: ScriptedCompanion) => calls.map(({ tool }) => tool);

describe('every age of companion', () => {
  const gemini = 'gemini-cli-companion-mcp-server';
  const qwen = 'qwen-code-companion-mcp-server';
  const rows: [age: string, script: CompanionScript][] = [
    [
      'Gemini 0.6 to 0.8',
      { serverName: gemini, protocol: '2025-06-18', rejection: 'ide/diffClosed' },
    ],
    [
      'Gemini 0.9 to 0.21',
      { serverName: gemini, protocol: '2025-06-18', rejection: 'ide/diffClosed', isShared: true },
    ],
    ['Gemini 0.22 and newer', { serverName: gemini, protocol: '2025-06-18', isShared: true }],
    [
      'Qwen 0.15',
      { serverName: qwen, protocol: '2025-11-25', rejection: 'ide/diffClosed', isShared: true },
    ],
    ['Qwen, newer', { serverName: qwen, rejection: 'ide/diffClosed' }],
    ['one of the written specification', { serverName: 'other', closeDiffForm: 'text' }],
    ['one that answers openDiff with words', { serverName: 'other', openDiffText: 'Opened.' }],
    ['one of the oldest protocol', { serverName: 'other', protocol: '2024-11-05' }],
  ];

  test.each(rows)('%s: accepted, accepted with changes, rejected', async (_, script) => {
    const { companion, linked } = await connected(script);
    for (const [content, expected] of [
      ['two\n', { decision: 'once', by: 'editor' }],
      ['mine\n', { decision: 'once', by: 'editor', content: 'mine\n' }],
      ['', { decision: 'once', by: 'editor', content: '' }],
      [undefined, { decision: 'reject', by: 'editor' }],
    ] as [string | undefined, AnswerEntry][]) {
      const answer = ask(linked, 'two\n');
      await until(() => companion.diffs.get(PATH) === 'two\n');
      if (content === undefined) await companion.reject(PATH);
      else await companion.accept(PATH, content);
      expect(await answer).toEqual(expected);
    }
    expect(callsOf(companion)).toEqual(Array(4).fill('openDiff'));
  });

  test.each(rows)('%s: withdrawn', async (_, script) => {
    const { companion, answer } = await asked(script);
    await withdraw(answer);
    await until(() => !companion.diffs.has(PATH));
    expect(companion.calls.at(-1)).toEqual({
      tool: 'closeDiff',
      args: { filePath: PATH, suppressNotification: true },
    });
  });

  test('an answer does not count once the confirmation is gone', async () => {
    const { companion, linked, answer } = await asked();
    linked.confirmed.clear();
    await companion.accept(PATH, 'two\n');
    await until(() => log.some((line) => line.includes('no longer confirmed')));
    await withdraw(answer);
  });

  test('those without a token show no diffs, because they cannot be confirmed', async () => {
    const { companion, linked } = await connected({ token: null, openDiffText: 'Opened.' });
    const answer = ask(linked, 'two\n');
    expect(log.join()).toContain('It has no token');
    await withdraw(answer);
    expect(companion.calls).toEqual([]);
  });
});

describe('only a confirmed companion', () => {
  test('is shown a diff, as soon as it is confirmed', async () => {
    const { companion, linked } = await connected({}, { isConfirmed: false });
    const first = new AbortController();
    const unanswered = ask(linked, 'two\n', PATH, first.signal);
    await companion.notify('ide/diffAccepted', { filePath: PATH, content: 'evil\n' });
    await companion.askPing();
    first.abort();
    expect(await unanswered).toBeUndefined();
    expect(companion.calls).toEqual([]);
    linked.confirmed.add(identityOf(companion.candidate) ?? '');
    const answer = ask(linked, 'two\n');
    await until(() => companion.diffs.has(PATH));
    await companion.accept(PATH);
    expect(await answer).toEqual({ decision: 'once', by: 'editor' });
  });

  test('decides: not one that takes its place while the question is open', async () => {
    const [good, evil] = [await start(), await start({ token: 'another' })];
    const linked = await connect(good);
    const answer = ask(linked, 'two\n');
    await until(() => good.diffs.has(PATH));
    linked.candidates = [evil.candidate];
    await good.close();
    await until(() => evil.streams() === 1);
    await evil.notify('ide/diffAccepted', { filePath: PATH, content: 'evil\n' });
    await evil.askPing();
    await withdraw(answer);
    expect(evil.calls).toEqual([]);
  });
});

test('a window that is confirmed takes the place of one that is not', async () => {
  const [first, chosen] = [await start(), await start({ token: 'another' })];
  const linked = await connect(first, { isConfirmed: false });
  linked.candidates = [first.candidate, chosen.candidate];
  linked.confirmed.add(identityOf(chosen.candidate) ?? '');
  const answer = ask(linked, 'two\n');
  await until(() => chosen.diffs.has(PATH));
  expect(first.calls).toEqual([]);
  await chosen.accept(PATH);
  expect(await answer).toEqual({ decision: 'once', by: 'editor' });
});

describe('gives no answer', () => {
  test('to anything but the edit of a text', async () => {
    const {
      companion,
      linked: { link },
    } = await connected();
    const { edited: _, ...rest } = editQuestion(PATH, 'two\n');
    expect(await link.asker.ask(rest, withdrawing.signal)).toBeUndefined();
    const proposal = { kind: 'call' as const, tool: 'x', arguments: {} };
    const open = editQuestion(PATH, 'two\n');
    const call = { ...open, question: { ...open.question, proposal } };
    expect(await link.asker.ask(call, withdrawing.signal)).toBeUndefined();
    expect(companion.calls).toEqual([]);
  });

  test('about a file that the companion would not take', async () => {
    const { companion, linked } = await connected();
    expect(await ask(linked, '"'.repeat(6 * 1024 * 1024))).toBeUndefined();
    expect(companion.calls).toEqual([]);
  });

  test('to a question that is withdrawn already', async () => {
    const { companion, linked } = await connected();
    withdrawing.abort();
    expect(await ask(linked, 'two\n')).toBeUndefined();
    expect(companion.calls).toEqual([]);
  });

  test('while the editor refuses to show it, which the log shows', async () => {
    const { companion, linked } = await connected({ refusesDiffs: true });
    const answer = ask(linked, 'two\n');
    await until(() => log.some((line) => line.includes('no room on the screen')));
    await companion.notify('ide/diffAccepted', { filePath: PATH, content: 'of another client' });
    await companion.askPing();
    await withdraw(answer);
    expect(companion.sessions()).toBe(1);
  });

  test('and writes that to a log file with the ids of the call that asks', async () => {
    const { companion, linked } = await connected();
    companion.statuses.set('openDiff', 413);
    const ids = { conversation: 'conv_1', run: 'chat_1', call: 'call_1', trace: 'trace_1' };
    const entries: LogEntry[] = [];
    const asking = () => aboutCall(ids, () => ask(linked, 'two\n'));
    const answer = logTo((entry) => entries.push(entry), asking);
    await until(() => entries.length > 0);
    const message = expect.stringContaining('does not show an edit');
    expect(entries).toEqual([{ event: 'editor_diff_refused', ...ids, message }]);
    await withdraw(answer);
  });

  test('after 413, which ends no session', async () => {
    const { companion, linked } = await connected();
    companion.statuses.set('openDiff', 413);
    const answer = ask(linked, 'two\n');
    await until(() => log.some((line) => line.includes('does not show an edit')));
    await withdraw(answer);
    expect(companion.sessions()).toBe(1);
  });
});

describe('a result', () => {
  test('counts for its file only, however the companion spells it', async () => {
    const { companion, linked } = await connected();
    const [one, other] = [ask(linked, '1\n', '/w/one'), ask(linked, '2\n', '/w/other')];
    await until(() => companion.diffs.size === 2);
    await companion.notify('ide/diffAccepted', { filePath: '/w/unknown', content: 'x' });
    await companion.notify('ide/diffRejected', { filePath: '/w/./sub/../other' });
    expect(await other).toEqual({ decision: 'reject', by: 'editor' });
    await companion.accept('/w/one', '1!\n');
    expect(await one).toEqual({ decision: 'once', by: 'editor', content: '1!\n' });
  });

  test('stands for the acknowledgement that did not come', async () => {
    const { companion, linked } = await connected();
    companion.hanging.add('openDiff');
    const answer = ask(linked, 'two\n');
    await until(() => companion.steps.includes('openDiff'));
    await companion.notify('ide/diffAccepted', { filePath: PATH, content: 'mine\n' });
    expect(await answer).toEqual({ decision: 'once', by: 'editor', content: 'mine\n' });
    await until(() => companion.steps.includes('cancelled'));
    expect(companion.sessions()).toBe(1);
  });

  test('of a withdrawn question does not count for the next one of the file', async () => {
    const { companion, linked } = await connected({}, { lingerMs: 60_000 });
    const first = new AbortController();
    const withdrawn = ask(linked, 'first\n', PATH, first.signal);
    await until(() => companion.diffs.has(PATH));
    const next = ask(linked, 'second\n');
    // The person has accepted, and the news is still under way while the question is answered elsewhere.
    companion.diffs.delete(PATH);
    first.abort();
    expect(await withdrawn).toBeUndefined();
    await until(() => callsOf(companion).includes('closeDiff'));
    await companion.notify('ide/diffAccepted', { filePath: PATH, content: 'first\n' });
    await until(() => companion.diffs.get(PATH) === 'second\n');
    await companion.accept(PATH);
    expect(await next).toEqual({ decision: 'once', by: 'editor' });
  });
});

test('a diff that opens after its question was withdrawn is closed', async () => {
  const { companion, linked } = await connected();
  const opening = Promise.withResolvers<void>();
  companion.held.set('openDiff', opening.promise);
  const answer = ask(linked, 'two\n');
  await until(() => companion.steps.includes('openDiff'));
  await withdraw(answer);
  await companion.askPing();
  opening.resolve();
  await until(() => callsOf(companion).length === 2);
  expect(callsOf(companion)).toEqual(['openDiff', 'closeDiff']);
  expect(companion.diffs.size).toBe(0);
});

describe('an editor that fails during a question', () => {
  test('leaves it open, and shows it again when it is back at a new port', async () => {
    const first = await start();
    const linked = await connect(first);
    const answer = ask(linked, 'two\n');
    await until(() => first.diffs.has(PATH));
    await first.close();
    const second = await start();
    linked.candidates = [second.candidate];
    await until(() => second.streams() === 1);
    expect(second.calls).toEqual([]);
    await second.close();
    const third = await start();
    linked.confirmed.add(identityOf(third.candidate) ?? '');
    linked.candidates = [third.candidate];
    await until(() => third.diffs.get(PATH) === 'two\n');
    await third.accept(PATH);
    expect(await answer).toEqual({ decision: 'once', by: 'editor' });
  });

  test('is shown it again once it is confirmed anew, at its new port', async () => {
    const first = await start();
    const linked = await connect(first, { confirmMs: 20 });
    const answer = ask(linked, 'two\n');
    await until(() => first.diffs.has(PATH));
    await first.close();
    const second = await start();
    linked.candidates = [second.candidate];
    await until(() => second.streams() === 1);
    await second.askPing();
    expect(second.calls).toEqual([]);
    linked.confirmed.add(identityOf(second.candidate) ?? '');
    await until(() => second.diffs.get(PATH) === 'two\n');
    await second.accept(PATH);
    expect(await answer).toEqual({ decision: 'once', by: 'editor' });
  });

  test('keeps what the person had changed when only the stream was dropped', async () => {
    const { companion, answer } = await asked();
    companion.diffs.set(PATH, 'half of mine\n');
    companion.dropStreams();
    await until(() => callsOf(companion).length === 3);
    expect(companion.diffs.get(PATH)).toBe('half of mine\n');
    await companion.accept(PATH);
    expect(await answer).toEqual({ decision: 'once', by: 'editor', content: 'half of mine\n' });
  });

  test.each([400, 404])(
    'and answers %i, as after a restart on its port, is connected anew',
    async (status) => {
      const { companion, linked } = await connected({ unknownSession: status === 404 ? 404 : 400 });
      companion.forget();
      const answer = ask(linked, 'two\n');
      await until(() => companion.diffs.has(PATH));
      expect(companion.sessions()).toBe(2);
      await companion.accept(PATH);
      expect(await answer).toEqual({ decision: 'once', by: 'editor' });
    },
  );

  test('because another client took its one server over, is taken back', async () => {
    const { companion, linked } = await connected({ isShared: true }, { acknowledgeMs: 300 });
    const other = await connectFirst(
      { ranked: [companion.candidate], hosts: ['127.0.0.1'] },
      { limits: LINK_LIMITS, onNews: () => {}, signal: new AbortController().signal },
    );
    const answer = ask(linked, 'two\n');
    await until(() => companion.diffs.has(PATH));
    expect(companion.sessions()).toBe(3);
    await companion.accept(PATH);
    expect(await answer).toEqual({ decision: 'once', by: 'editor' });
    other?.end('over');
  });

  test('again and again is left alone', async () => {
    const { companion, linked } = await connected({}, { acknowledgeMs: 500 });
    companion.hanging.add('openDiff');
    const answer = ask(linked, 'two\n');
    await until(() => companion.sessions() >= 3);
    companion.hanging.clear();
    const other = ask(linked, 'other\n', '/w/other');
    await until(() => companion.diffs.has('/w/other'));
    await companion.accept('/w/other');
    await other;
    expect(companion.calls.filter(({ args }) => args['newContent'] === 'two\n')).toEqual([]);
    await withdraw(answer);
  });

  test('to close a diff is asked to close it before it shows the next', async () => {
    const { companion, linked } = await connected({}, { acknowledgeMs: 500 });
    const first = new AbortController();
    const withdrawn = ask(linked, 'first\n', PATH, first.signal);
    await until(() => companion.diffs.has(PATH));
    companion.hanging.add('closeDiff');
    first.abort();
    expect(await withdrawn).toBeUndefined();
    await until(() => companion.sessions() >= 2);
    companion.hanging.clear();
    const answer = ask(linked, 'second\n');
    await until(() => companion.diffs.get(PATH) === 'second\n');
    expect(callsOf(companion)).toEqual(['openDiff', 'closeDiff', 'openDiff']);
    await companion.accept(PATH);
    expect(await answer).toEqual({ decision: 'once', by: 'editor' });
  });
});

test('the end of the bridge closes the diffs that are open', async () => {
  const { companion, linked, answer } = await asked();
  withdrawing.abort();
  await linked.link.end();
  expect(await answer).toBeUndefined();
  expect(companion.diffs.size).toBe(0);
});

test('the end of the bridge does not wait for an editor that hangs', async () => {
  const { companion, linked, answer } = await asked({}, { endMs: 50 });
  companion.hanging.add('closeDiff');
  withdrawing.abort();
  await linked.link.end();
  expect(await answer).toBeUndefined();
});
