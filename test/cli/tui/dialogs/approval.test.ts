import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ClientError } from '../../../../client/index.ts';
import { newDeferred } from '../../../../machine/deferred.ts';
import { withCommandLast } from '../../../../shared/shown/command-last.ts';
import { REGISTRIES } from '../../../../shared/tools/registries.ts';
import type { Proposal } from '../../../../shared/wire/approvals.ts';
import { BRIDGE_ID } from '../../../client/sample-tape.ts';
import { approvalOf, commandOf, KEYS, openSlot } from './opened-slot.ts';

const { enter, down, pageDown, end, tab, backspace } = KEYS;
const TEST = approvalOf(commandOf('npm test'), { lasting: { pattern: 'npm test', always: true } });

it('shows the whole call, where it happens and why, and how far each yes reaches', async () => {
  const { screen } = await openSlot({ asks: [TEST], columns: 64 });
  const lines = (await screen()).split('\n');
  expect(lines).toEqual(
    [
      '── Run this command? ───────────────────────────────────────────',
      'Tool: run_terminal_cmd',
      'Why: Commands ask.',
      `Where: /work/shop, ${BRIDGE_ID}`,
      '  folder: .',
      '  permissions: none',
      '  sandbox: bubblewrap',
      '  command: npm test',
      '  1 Allow once',
      '  2 Allow in this conversation: npm test, in the sandbox',
      '  3 Allow always: npm test, in the sandbox',
      '  4 Reject',
      '  5 Reject, and say why',
      '…',
      'the status',
    ].map((line) => (typeof line === 'string' ? line.trimEnd() : line)),
  );
});

it('has room for a change of five lines and its choices on 24 rows', async () => {
  const oldString = ['a', 'b'].join('\n');
  const newString = ['c', 'd', 'e'].join('\n');
  const edit: Proposal = {
    kind: 'edit',
    tool: 'str_replace',
    operation: 'edit',
    path: 'src/a.ts',
    diff: [{ startLine: 3, endLine: 4, oldString, newString }],
    beforeHash: '0',
    afterHash: '1',
  };
  const lasting = { pattern: 'src/a.ts', always: true };
  const { screen, press, sent } = await openSlot({
    asks: [approvalOf(edit, { lasting, newText: 'c' })],
  });
  const shown = await screen();
  expect(shown).not.toContain('Space reads on');
  for (const words of ['    - a', '    + e', 'Tool: str_replace · Why: Commands ask.'])
    expect(shown).toContain(words);
  expect(shown).toContain('  6 Reject, and say why');
  await press('1', enter);
  expect(sent).toHaveLength(1);
});

it('takes no yes whose words are not all on the screen', async () => {
  const pattern = `cat ${'x'.repeat(50)}`;
  const wide = approvalOf(commandOf(pattern), { lasting: { pattern, always: true } });
  const { screen, press, sent, terminal } = await openSlot({ asks: [wide], columns: 20, rows: 14 });
  await press(end, '2', enter);
  expect(await screen()).toContain('Make the window');
  expect(sent).toEqual([]);
  terminal.resize(80, 24);
  await press(enter);
  expect(await screen()).toContain('Allow what?');
});

it('says below the call what a long yes allows', async () => {
  const pattern = `cat ${'x'.repeat(100)}`;
  const long = approvalOf(commandOf(pattern), { lasting: { pattern, always: false } });
  const { screen } = await openSlot({ asks: [long], columns: 200 });
  expect(await screen()).toContain(`A yes that lasts allows ${pattern}, in the sandbox.`);
  expect(await screen()).toMatch(/^ {2}2 Allow in this conversation$/m);
});

it('takes no answer from a person who writes a message into it', async () => {
  const { type, wait, press, sent, screen } = await openSlot({ asks: [TEST] });
  await wait(1_000);
  for (const key of ['1', ' ', 'c', 'a', 'r', 't', ' ', '1', enter]) {
    await type(key);
    await wait(200);
  }
  expect(sent).toEqual([]);
  await wait(1_000);
  expect(await screen()).not.toContain('❯');
  await press('1', enter);
  expect(sent).toHaveLength(1);
});

it('asks for the package registries on a small screen, and signs each of them', async () => {
  const permissions = REGISTRIES.map((host) => `network:${host}`);
  const proposal = { ...commandOf('npm install'), timeLimitMs: 120_000, permissions } as Proposal;
  const pattern = REGISTRIES.join('\n');
  const asked = approvalOf(proposal, { lasting: { pattern, always: true } });
  const { screen, press, sent } = await openSlot({ asks: [asked] });
  const shown = await screen();
  expect(shown).not.toContain('Space reads on');
  expect(shown).toContain('3 Allow always: package registries, for every command in the sandbox');
  await press('3', enter);
  expect(sent).toMatchObject([{ reply: { scope: 'always', pattern } }]);
});

it('says of each pattern what it is for', async () => {
  const pattern = 'git add [*].ts\ngit commit';
  const both = approvalOf(commandOf('git add *.ts && git commit'), {
    lasting: { pattern, always: true },
  });
  const { screen, press, sent } = await openSlot({ asks: [both] });
  await press('2', enter);
  expect(await screen()).toMatch(
    /Pattern 1 of 2[\s\S]*For the command git add \*\.ts\nPattern: git/,
  );
  await press(enter);
  expect(await screen()).toMatch(/Pattern 2 of 2[\s\S]*For the command git commit/);
  await press(enter);
  expect(sent).toMatchObject([{ reply: { scope: 'conversation', pattern } }]);
});

it('knows what was answered here, as soon as it is sent, unless the server refuses it', async () => {
  const refusals = [new ClientError('SUPERSEDED', 'No.', { status: 409 })];
  const { press, look } = await openSlot({ asks: [TEST], refusals });
  await press('1', enter);
  expect([...look.answeredHere]).toEqual([]);
  await press('1', enter);
  expect([...look.answeredHere]).toEqual([`${TEST.responseId} ${TEST.documentId}`]);
});

it('allows once what was on the screen, by a number and Enter', async () => {
  const { press, sent, ask, screen } = await openSlot({ asks: [TEST] });
  await press('1', enter);
  expect(sent).toEqual([{ type: 'allow', question: TEST, reply: {} }]);
  expect(await screen()).not.toContain('Run this command?');
  await ask();
  expect(sent).toHaveLength(1);
});

it('answers nothing by Enter alone, by a letter or by a number alone', async () => {
  const { press, sent, screen } = await openSlot({ asks: [TEST] });
  await press(enter, 'y', 'a', '1');
  expect(sent).toEqual([]);
  expect(await screen()).toContain('❯ 1 Allow once');
});

it('ignores what was typed ahead, keeps nothing of it, and shows when it listens', async () => {
  const { type, wait, settle, sent, screen, submitted } = await openSlot({ asks: [TEST] });
  await type('1', enter, down, enter);
  expect(await screen()).toMatch(/^…$/m);
  for (let key = 0; key < 20; key++) {
    await wait(299);
    await type('1', enter);
  }
  expect(sent).toEqual([]);
  await wait(300);
  expect(await screen()).toContain('Enter: answer');
  expect(await screen()).not.toContain('❯');
  await type('2');
  expect(await screen()).toContain('❯ 2');
  await wait(100);
  await type(down, down);
  await wait(100);
  await type(enter);
  await wait(100);
  await settle();
  expect(sent).toEqual([{ type: 'reject', question: TEST, reply: { message: undefined } }]);
  expect(submitted).toEqual([]);
});

it('begins to listen when the question is on the screen, and not while it is prepared', async () => {
  const known = newDeferred<void>();
  const { type, wait, sent, screen, settle } = await openSlot({
    asks: [TEST],
    onPlace: () => known.promise,
  });
  await type('1', enter);
  await wait(5_000);
  known.resolve();
  await settle();
  await type('1');
  await wait(299);
  await type(enter);
  await wait(100);
  expect(sent).toEqual([]);
  expect(await screen()).toMatch(/Run this command\?[\s\S]* {2}1 Allow once/);
});

it('takes no Enter that is held down', async () => {
  const { press, sent } = await openSlot({ asks: [TEST] });
  await press('1', '\x1b[13;1:2u');
  expect(sent).toEqual([]);
  await press('\x1b[13;1:1u');
  expect(sent).toHaveLength(1);
});

it.each([
  ['marked', `\x1b[200~1\r\n1\r\x1b[201~`],
  ['marked, with an Enter alone', `\x1b[200~\r\x1b[201~`],
])('takes no pasted text as an answer: %s', async (_, paste) => {
  const { press, sent } = await openSlot({ asks: [TEST] });
  await press('1', paste);
  expect(sent).toEqual([]);
});

it('takes no unmarked paste as an answer that begins with a line end', async () => {
  const { press, type, wait, sent } = await openSlot({ asks: [TEST] });
  await press('1');
  await type(...'\rmake it');
  await wait(1_000);
  expect(sent).toEqual([]);
});

it('takes no unmarked paste as an answer: its keys come at once', async () => {
  const { wait, type, sent, settle } = await openSlot({ asks: [TEST] });
  await settle();
  await wait(1_000);
  await type(...'make it 1\r1\r');
  await wait(1_000);
  expect(sent).toEqual([]);
});

it('allows in this conversation or always, for a pattern that the person changes', async () => {
  const { press, sent, screen, ask } = await openSlot({ asks: [TEST] });
  await press('3', enter);
  expect(await screen()).toMatch(/Allow what\?[\s\S]*Pattern: npm test[\s\S]*> npm test/);
  await press(...Array<string>(4).fill(backspace), '*', enter);
  const reply = { scope: 'always', pattern: 'npm *' };
  expect(sent).toEqual([{ type: 'allow', question: TEST, reply }]);
  const next = approvalOf(commandOf('make'), { lasting: { pattern: 'make', always: false } });
  await ask(next);
  expect(await screen()).not.toContain('Allow always');
  await press('2', enter, enter);
  expect(sent.at(-1)).toEqual({
    type: 'allow',
    question: next,
    reply: { scope: 'conversation', pattern: 'make' },
  });
});

it('takes no pattern by the second of two Enters', async () => {
  const { press, type, wait, sent, screen } = await openSlot({ asks: [TEST] });
  await press('3', enter);
  for (let key = 0; key < 5; key++) {
    await wait(200);
    await type(enter);
  }
  await wait(200);
  expect(sent).toEqual([]);
  await press(KEYS.escape);
  expect(await screen()).toContain('Run this command?');
});

it('takes no pattern with characters that a screen does not show', async () => {
  const { press, sent, screen } = await openSlot({ asks: [TEST] });
  await press('2', enter, '\x1b[200~\u200b*\x1b[201~', enter);
  expect(await screen()).toContain('a screen does not show');
  expect(await screen()).toContain('npm test\\u{200b}*');
  expect(sent).toEqual([]);
});

it('offers only a yes for once where the pattern is wider than the call', async () => {
  const wide = approvalOf(commandOf('npm test'), { lasting: { pattern: '*', always: true } });
  const { screen } = await openSlot({ asks: [wide] });
  expect(await screen()).not.toMatch(/in this conversation|always|from now on/);
});

it('offers always at the machine of the bridge itself', async () => {
  const here = approvalOf(commandOf('make'), { lasting: { pattern: 'make', always: false } });
  const own = { bridgeId: BRIDGE_ID, stateDir: '/state' };
  const { screen } = await openSlot({ asks: [here], chat: { own } });
  expect(await screen()).toMatch(/\/work\/shop, this machine[\s\S]*3 Allow always/);
});

it('takes what is typed at once after an answer, also where the event is quicker than the reply', async () => {
  const gone = newDeferred<void>();
  const { press, type, ask, composer } = await openSlot({
    asks: [TEST],
    onAnswer: () => gone.promise,
  });
  await press('1', enter);
  await ask();
  await type('h', 'i');
  gone.resolve();
  await type('!');
  expect(composer.getText()).toBe('hi!');
});

it('rejects, and sends the words that the model reads', async () => {
  const { press, sent } = await openSlot({ asks: [TEST] });
  await press('5', enter, ...'use pnpm', enter);
  expect(sent).toEqual([{ type: 'reject', question: TEST, reply: { message: 'use pnpm' } }]);
});

it('asks again after a refused answer, and says what the machine says of it alone', async () => {
  const why = 'The pattern does not match';
  const refusals = [new ClientError('APPROVAL_REFUSED', why, { status: 403 })];
  const { press, sent, said, screen } = await openSlot({ asks: [TEST], refusals });
  await press('1', enter);
  expect(sent).toEqual([]);
  expect(said.join()).toMatch(
    /was not accepted: error APPROVAL_REFUSED: The pattern does not match$/,
  );
  expect(await screen()).toMatch(/Run this command\?[\s\S]* {2}1 Allow once/);
  await press('1', enter);
  expect(sent).toHaveLength(1);
});

it('keeps an answer that could not be sent, for another try or a new answer', async () => {
  const away = () => new ClientError('UNREACHABLE', 'no answer');
  const { press, sent, said, screen } = await openSlot({
    asks: [TEST],
    refusals: [away(), away(), away()],
  });
  await press('5', enter, ...'why', enter);
  expect(await screen()).toMatch(/Your answer may not have arrived[\s\S]*UNREACHABLE: no answer/);
  await press('1', enter);
  expect(await screen()).toContain('Your answer may not have arrived');
  expect(sent).toEqual([]);
  await press('2', enter);
  expect(said.join()).toContain('UNREACHABLE');
  await press('4', enter, '1', enter);
  expect(sent).toEqual([{ type: 'reject', question: TEST, reply: { message: undefined } }]);
});

it('says that a yes was not accepted where the machine asks the same again', async () => {
  const { press, ask, screen } = await openSlot({ asks: [TEST], rows: 40 });
  await press('1', enter);
  await ask({ ...TEST, nonce: 'another' });
  expect(await screen()).toContain('Your last yes was not accepted');
});

it('signs the question that was drawn, whatever the session holds by then', async () => {
  const shown = structuredClone(TEST);
  const { press, sent, session } = await openSlot({ asks: [shown] });
  await press('1');
  Object.assign(shown.proposal, { command: 'rm -rf /' });
  session.asks = [{ ...TEST, proposal: commandOf('rm -rf /') }];
  await press(enter);
  expect(sent).toEqual([{ type: 'allow', question: TEST, reply: {} }]);
});

it('drops an Enter when the question is replaced before it answers', async () => {
  const { press, type, wait, ask, sent } = await openSlot({ asks: [TEST] });
  await press('1');
  await type(enter);
  await ask(approvalOf(commandOf('rm -rf /'), { callId: TEST.callId }));
  await wait(100);
  expect(sent).toEqual([]);
});

it('asks a replaced question anew: no key for the old one counts', async () => {
  const { press, type, wait, ask, sent, screen } = await openSlot({ asks: [TEST] });
  await press('1');
  const next = approvalOf(commandOf('rm -rf /'), { callId: TEST.callId });
  await ask(next);
  await type(enter, '1', enter);
  await wait(100);
  expect(sent).toEqual([]);
  expect(await screen()).toMatch(/rm -rf[\s\S]* {2}1 Allow once/);
});

it('goes away when it is answered elsewhere, with the words that were begun', async () => {
  const { press, type, wait, ask, sent, submitted, composer, screen } = await openSlot({
    asks: [TEST],
  });
  await press('5', enter, ...'because');
  await ask();
  expect(await screen()).not.toContain('Reject');
  for (const key of [...' it is late', enter]) {
    await wait(150);
    await type(key);
  }
  expect([sent, submitted, composer.getText()]).toEqual([[], [], '']);
  await press('h', 'i', enter);
  expect(submitted).toEqual(['hi']);
});

it('says where to answer and how to enrol on a machine without a key, which can still reject', async () => {
  const { press, sent, screen } = await openSlot({ asks: [TEST], isKeyless: true });
  const shown = (await screen()).replaceAll(/\s+↳ /g, ' ');
  expect(shown).toMatch(/not enrolled at the bridge.*devices show.*devices enrol/);
  expect(await screen()).not.toContain('Allow');
  await press('1', enter);
  expect(sent).toEqual([{ type: 'reject', question: TEST, reply: { message: undefined } }]);
});

it('takes a yes only after the end of a long proposal was on the screen', async () => {
  const lines = Array.from({ length: 5_000 }, (_, at) => `echo ${at}`);
  const long = approvalOf(commandOf(lines.join('\n')));
  const { press, sent, screen } = await openSlot({ asks: [long] });
  expect(await screen()).toMatch(/Lines 1-\d+ of 500\d/);
  await press('1', enter);
  expect(await screen()).toContain('Read to the end first');
  expect(sent).toEqual([]);
  const seen = new Set<string>();
  for (let page = 0; page < 1_000 && !seen.has('echo 4999'); page++) {
    for (const [word] of (await screen()).matchAll(/echo \d+/g)) seen.add(word);
    await press(pageDown);
  }
  expect(seen.size).toBe(5_000);
  expect(await screen()).not.toContain('Read to the end first');
  await press(end, enter);
  expect(sent).toHaveLength(1);
});

const ATTACKS: Readonly<Record<string, string>> = {
  escapes: 'echo a\x1b[2J\x1b[8mhidden\x1b[0m',
  directions: 'echo \u202etxet\u2066 done',
  'blanks up to a false limit': `echo ok${' '.repeat(311)}  sandbox: none`,
  'wide and combining characters':
    'echo \ud83d\udc4d\u0301\u0301 漢字かな交じり文 عربى 한국어 🇩🇪🇩🇪 👨‍👩‍👧‍👦 x',
  'a long word with line ends': `${'ab漢'.repeat(400)}\ttab\r\nline\u2028line`,
};

it.each(
  Object.keys(ATTACKS).flatMap((name) =>
    [20, 40, 80, 200].map((columns) => [columns, name] as const),
  ),
)('shows all of a hostile command and nothing else at %i columns: %s', async (columns, name) => {
  const command = ATTACKS[name] ?? '';
  const proposal = commandOf(command, `f${command}`);
  const asks = [approvalOf(proposal, { reason: command })];
  const { screen, press, terminal } = await openSlot({ asks, columns, rows: 60 });
  const lines: string[] = [];
  for (let isEnd = false; !isEnd; await press(pageDown)) {
    const shown = (await screen()).split('\n').slice(1);
    const [, first = 1, last = 0, total = 0] =
      /Lines (\d+)-(\d+) of (\d+)/.exec(shown.join('\n'))?.map(Number) ?? [];
    const until = last === 0 ? shown.indexOf('  1 Allow once') : last - first + 1;
    for (const [at, line] of shown.slice(0, until).entries()) lines[first - 1 + at] = line;
    isEnd = last === total;
  }
  const whole = lines.join('\n').replaceAll('\n↳ ', '').split('\n');
  const withoutBlanks = (each: string) => each.replaceAll(' ', '');
  const limits = whole.findIndex((line) => line.startsWith('  folder: '));
  const described = withCommandLast(proposal);
  expect(whole.slice(limits, limits + described.length).map(withoutBlanks)).toEqual(
    described.map(withoutBlanks),
  );
  expect(lines.filter((line) => line.startsWith('  sandbox: '))).toEqual([
    lines.find((line) => line.startsWith('  sandbox: ')),
  ]);
  for (const hidden of ['\x1b[8m', '\u202e', '\u2066', '\u200d', '\u2028'])
    expect(terminal.written()).not.toContain(hidden);
});

it('shows a change with colours', async () => {
  const { terminal } = await openSlot({ asks: [approvalOf(EDIT)], isColoured: true });
  expect(terminal.written()).toContain('\x1b[31m    - old\x1b[39m');
  expect(terminal.written()).toContain('\x1b[32m    + new\x1b[39m');
});

const EDIT: Proposal = {
  kind: 'edit',
  tool: 'edit_file',
  path: 'a.md',
  operation: 'edit',
  diff: [{ startLine: 1, endLine: 1, oldString: 'old', newString: 'new' }],
  beforeHash: 'x',
  afterHash: '11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437',
};

it('has the file changed in an editor, shows the result, and signs it', async () => {
  const asks = [approvalOf(EDIT, { newText: 'new' })];
  const edited: string[] = [];
  const edits = async (file: string) => {
    edited.push(await readFile(file, 'utf8'));
    await writeFile(file, 'newer\n');
    return true;
  };
  const { press, sent, screen } = await openSlot({ asks, edits });
  await press('2', enter);
  await expect.poll(screen).toMatch(/Write it like this\?[\s\S]*\+ newer/);
  await press('1', enter);
  expect(edited).toEqual(['new']);
  expect(sent).toEqual([{ type: 'allow', question: asks[0], reply: { content: 'newer\n' } }]);
});

it('has no other text changed than the one that was proposed', async () => {
  const asks = [approvalOf(EDIT, { newText: 'other' })];
  const { press, sent, screen } = await openSlot({ asks });
  await press('2', enter);
  await expect.poll(screen).toContain('another text than the proposed one');
  expect(sent).toEqual([]);
});

it('puts several waiting questions one behind the other, and away so that the person can write', async () => {
  const asks = ['one', 'two', 'three'].map((each) => approvalOf(commandOf(each)));
  const { press, ask, screen, sent, submitted } = await openSlot({ asks });
  expect(await screen()).toMatch(/1 of 3 · Run this command\?[\s\S]*command: one/);
  await press(KEYS.escape);
  expect(await screen()).toContain('3 questions wait: Tab answers');
  await press(...'hello', enter);
  expect(submitted).toEqual(['hello']);
  await press(tab);
  expect(await screen()).toMatch(/1 of 3[\s\S]*command: one/);
  await press('1', enter);
  expect(sent).toMatchObject([{ question: asks[0] }]);
  expect(await screen()).toMatch(/1 of 2[\s\S]*command: two/);
  await ask(...asks.slice(2));
  expect(await screen()).toMatch(/command: three/);
});

it('ignores keys again when the dialog comes back', async () => {
  const { press, type, wait, sent, screen } = await openSlot({ asks: [TEST] });
  await press('1', KEYS.escape, tab);
  await type(enter);
  await wait(100);
  expect(sent).toEqual([]);
  expect(await screen()).toContain('❯ 1 Allow once');
});

it('leaves a Tab to the composer that has text', async () => {
  const { press, screen } = await openSlot({ asks: [TEST] });
  await press(KEYS.escape, 'x', tab);
  expect(await screen()).toContain('1 question waits: send or clear the text first');
});

it('names the conversation of a subagent that asks', async () => {
  const conversationId = 'conv_00000000-0000-4000-8000-00000c410000';
  const asks = [approvalOf(commandOf('make'), { conversationId, title: 'Make it' })];
  const { press, screen, sent } = await openSlot({ asks });
  expect(await screen()).toContain('For: Make it');
  await press('1', enter);
  expect(sent).toMatchObject([{ question: { conversationId } }]);
});

it('asks for a larger window where it cannot show what is signed, and takes no answer there', async () => {
  const { press, screen, sent, terminal } = await openSlot({ asks: [TEST], rows: 8 });
  expect(await screen()).toContain('make the window larger');
  await press('1', enter);
  expect(sent).toEqual([]);
  terminal.resize(80, 24);
  expect(await screen()).toContain('Run this command?');
});
