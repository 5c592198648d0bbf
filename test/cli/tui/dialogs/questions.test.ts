import { expect, it } from 'vitest';
import type { Question } from '../../../../shared/wire/documents.ts';
import type { SubagentAsk } from '../../../../shared/wire/subagents.ts';
import { CONVERSATION_ID, RESPONSE_ID } from '../../../client/sample-tape.ts';
import { KEYS, openSlot } from './opened-slot.ts';

const { enter, down, tab } = KEYS;
const WAY: Question = {
  id: 'way',
  text: 'Which way?',
  options: [
    { id: 'jwt', label: 'JWT' },
    { id: 'cookie', label: 'A cookie' },
  ],
};
const PARTS: Question = {
  id: 'parts',
  text: 'Which parts?',
  allowMultiple: true,
  options: ['one', 'two', 'three'].map((id) => ({ id, label: `Part ${id}` })),
};

function asksFor(...questions: readonly Question[]): SubagentAsk {
  return {
    kind: 'clarification',
    conversationId: CONVERSATION_ID,
    title: 'Log in',
    responseId: RESPONSE_ID,
    documentId: 'doc_002',
    questions: [...questions],
  };
}

function sentWith(...answers: readonly object[]) {
  const body = { answers, responseId: RESPONSE_ID };
  return [{ type: 'answers', words: [CONVERSATION_ID, 'doc_002', body] }];
}

it('asks one question after the other and sends the answers together', async () => {
  const { press, sent, screen } = await openSlot({ asks: [asksFor(WAY, PARTS)] });
  expect(await screen()).toMatch(/Question 1 of 2[\s\S]*Which way\?[\s\S]*1 JWT\n {2}2 A cookie/);
  await press('2', enter);
  expect(sent).toEqual([]);
  expect(await screen()).toMatch(/Question 2 of 2[\s\S]*1 \[ \] Part one/);
  await press('1', ' ', '3', ' ', enter);
  expect(sent).toEqual(
    sentWith(
      { questionId: 'way', optionIds: ['cookie'] },
      { questionId: 'parts', optionIds: ['one', 'three'] },
    ),
  );
});

it('takes own words, which come back when the person goes back', async () => {
  const { press, sent, screen } = await openSlot({ asks: [asksFor(WAY, PARTS)] });
  await press('3', enter, ...'magic links', enter);
  expect(await screen()).toContain('Which parts?');
  await press('6', enter);
  expect(await screen()).toMatch(/Which way\?\nYour words before: magic links/);
  await press('3', enter, '!', enter, '2', ' ', '4', enter, ...'and tests', enter);
  expect(sent).toEqual(
    sentWith(
      { questionId: 'way', optionIds: [], text: 'magic links!' },
      { questionId: 'parts', optionIds: ['two'], text: 'and tests' },
    ),
  );
});

it('skips a question, which then has no answer', async () => {
  const { press, sent } = await openSlot({ asks: [asksFor(WAY, PARTS)] });
  await press('4', enter, '5', enter);
  expect(sent).toEqual(sentWith());
});

it('keeps what was answered while the person writes something else first', async () => {
  const { press, sent, screen } = await openSlot({ asks: [asksFor(WAY, PARTS)] });
  await press('1', enter, KEYS.escape);
  expect(await screen()).toContain('1 question waits: Tab answers');
  await press(tab);
  expect(await screen()).toContain('Question 2 of 2');
  await press(down, enter);
  expect(sent).toEqual(
    sentWith(
      { questionId: 'way', optionIds: ['jwt'] },
      { questionId: 'parts', optionIds: ['one'] },
    ),
  );
});

it('drops half-written words when the question is answered elsewhere', async () => {
  const { press, ask, type, wait, sent, submitted, composer } = await openSlot({
    asks: [asksFor(WAY)],
  });
  await press('3', enter, ...'magic');
  await ask();
  for (const key of [...' links', enter]) {
    await wait(100);
    await type(key);
  }
  expect([sent, submitted, composer.getText()]).toEqual([[], [], '']);
});

it('shows a question of a later response anew, although its document has the same id', async () => {
  const { press, ask, screen } = await openSlot({ asks: [asksFor(WAY)] });
  await press('1');
  const responseId = 'chat_00000000-0000-4000-8000-000000000099';
  await ask({ ...asksFor(PARTS), responseId });
  expect(await screen()).toMatch(/Which parts\?[\s\S]* {2}1 \[ \] Part one/);
});

it.each([20, 40, 80, 200])('shows hostile words in plain sight at %i columns', async (columns) => {
  const text =
    'Which \u202eyaw\x1b[2J?\n漢字かな交じり文 and more words than fit into a narrow line';
  const options = [{ id: 'a', label: `\x1b]0;title\x07 ${'wide 漢字 '.repeat(8)}` }];
  const { screen, terminal } = await openSlot({
    columns,
    rows: 50,
    asks: [asksFor({ id: 'q', text, options })],
  });
  const joined = (await screen()).replaceAll(/\n *↳ /g, ' ').replaceAll(/\s+/g, ' ');
  expect(joined.replaceAll(' ', '')).toContain('Which\\u{202e}yaw\\u{1b}[2J?');
  for (const hidden of ['\x1b[2J', '\u202e', '\x1b]0;title'])
    expect(terminal.written()).not.toContain(hidden);
});
