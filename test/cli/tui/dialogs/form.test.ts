import { expect, it } from 'vitest';
import type { FormField } from '../../../../shared/wire/elicitation.ts';
import { approvalOf, KEYS, openSlot } from './opened-slot.ts';

const { enter } = KEYS;
const options = [
  { value: 's', label: 'Small' },
  { value: 'l', label: 'Large' },
];
const FIELDS: readonly FormField[] = [
  { name: 'mail', title: 'Your address', type: 'text', format: 'email', required: true },
  { name: 'count', type: 'integer', minimum: 1, default: 2, required: true },
  { name: 'gift', type: 'boolean', required: false },
  { name: 'size', type: 'choice', options, required: true },
  { name: 'extras', type: 'choices', options, required: false },
];

function openForm(fields: readonly FormField[]) {
  const asked = approvalOf({
    kind: 'elicitation',
    tool: 'order',
    server: 'shop',
    message: 'Where to?',
    number: 1,
    fields: [...fields],
  });
  return openSlot({ asks: [asked] });
}

it('asks for each field by its rules, shows all values, and sends them for a yes', async () => {
  const { press, sent, screen } = await openForm(FIELDS);
  expect(await screen()).toMatch(/The server shop asks you[\s\S]*Where to\?[\s\S]*1 Answer/);
  await press('1', enter, ...'me', enter);
  expect(await screen()).toMatch(/Field 1 of 5[\s\S]*email/);
  await press(...'@x.org', enter);
  await press(...'0', enter);
  expect(await screen()).toMatch(/Field 2 of 5[\s\S]*Empty: Default: 2/);
  await press(KEYS.backspace, enter);
  await press('3', enter, '2', enter, '1', ' ', '2', ' ', enter);
  expect(await screen()).toMatch(
    /Send this\? ─+\n {2}mail: "me@x.org"\n {2}count: 2\n {2}size: "l"/,
  );
  expect(sent).toEqual([]);
  await press('1', enter);
  const content = JSON.stringify({ mail: 'me@x.org', count: 2, size: 'l', extras: ['s', 'l'] });
  expect(sent).toMatchObject([{ type: 'allow', reply: { content } }]);
});

it('goes back field by field, to the question', async () => {
  const { press, sent, screen } = await openForm(FIELDS);
  await press('1', enter, ...'a@b.c', enter, KEYS.escape);
  expect(await screen()).toContain('Field 1 of 5');
  await press(KEYS.escape);
  expect(await screen()).toMatch(/1 Answer\n {2}2 Reject/);
  await press('2', enter);
  expect(sent).toMatchObject([{ type: 'reject' }]);
});

it('sends a form without fields after one more look', async () => {
  const { press, sent, screen } = await openForm([]);
  await press('1', enter);
  expect(await screen()).toContain('A yes, without values.');
  await press('1', enter);
  expect(sent).toMatchObject([{ type: 'allow', reply: { content: '{}' } }]);
});
