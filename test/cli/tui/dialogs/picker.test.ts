import { expect, it } from 'vitest';
import { approvalOf, commandOf, KEYS, openSlot } from './opened-slot.ts';

const { enter, down, pageDown, backspace } = KEYS;
const ITEMS = Array.from({ length: 40 }, (_, at) => ({
  value: at,
  label: `Model ${at}`,
  ...(at === 17 && { description: 'the quick one' }),
}));

it('lets the person choose from a list with the keys', async () => {
  const { slot, press, screen } = await openSlot();
  const picked = slot.pick({ title: 'Which model?', items: ITEMS });
  expect(await screen()).toMatch(/── Which model\? ─+\n> +\n❯ Model 0\n {2}Model 1\n/);
  await press(down, pageDown, enter);
  expect(await picked).toBe(16);
  expect(await screen()).not.toContain('Model');
});

it('narrows the list by what is written, also in the description, and picks nothing of nothing', async () => {
  const { slot, press, screen } = await openSlot();
  const picked = slot.pick({ title: 'Which model?', items: ITEMS, marked: 3 });
  expect(await screen()).toContain('❯ Model 3');
  await press(...'qqq', enter);
  expect(await screen()).toContain('0 of 40');
  await press(backspace, backspace, backspace, ...'quick', enter);
  expect(await picked).toBe(17);
});

it('picks nothing at Esc and at Ctrl-C', async () => {
  const { slot, press } = await openSlot();
  const first = slot.pick({ title: 'Which?', items: ITEMS });
  await press(KEYS.escape);
  expect(await first).toBe(undefined);
  const second = slot.pick({ title: 'Which?', items: ITEMS });
  expect(slot.interrupt()).toBe(true);
  expect(await second).toBe(undefined);
  expect(slot.interrupt()).toBe(false);
});

it('keeps what was written in the composer', async () => {
  const { slot, press, composer, submitted } = await openSlot();
  await press('h', 'i');
  const picked = slot.pick({ title: 'Which?', items: ITEMS });
  await press('x', KEYS.escape);
  await picked;
  expect(composer.getText()).toBe('hi');
  await press(enter);
  expect(submitted).toEqual(['hi']);
});

it.each([20, 40, 80, 200])('fits labels from outside into %i columns', async (columns) => {
  const { slot, screen, terminal } = await openSlot({ columns });
  const label = `\x1b[2J\u202e漢字かな交じり文\n${'long '.repeat(60)}`;
  void slot.pick({ title: label, items: [{ value: 1, label, description: label }] });
  expect(await screen()).toMatch(/❯ \\u\{1b\}\[2J/);
  expect(terminal.written()).not.toContain('\x1b[2J\u202e');
});

it('lets a question wait behind a list that the person has opened', async () => {
  const { slot, ask, press, screen } = await openSlot();
  const picked = slot.pick({ title: 'Which?', items: ITEMS });
  await ask(approvalOf(commandOf('make')));
  expect(await screen()).toContain('❯ Model 0');
  await press(enter);
  expect(await picked).toBe(0);
  expect(await screen()).toContain('Run this command?');
});

it('confirms only by a marked yes', async () => {
  const { slot, press } = await openSlot();
  const first = slot.confirm('Delete it?');
  await press('2', enter);
  expect(await first).toBe(true);
  const second = slot.confirm('Delete it?');
  await press(enter, '1', enter);
  expect(await second).toBe(false);
  const third = slot.confirm('Delete it?');
  await press(KEYS.escape);
  expect(await third).toBe(false);
  const fourth = slot.confirm('Delete it?');
  expect(slot.interrupt()).toBe(true);
  expect(await fourth).toBe(false);
});
