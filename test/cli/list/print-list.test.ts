import { expect, test } from 'vitest';
import { type ListFormat, printList } from '../../../cli/list/print-list.ts';
import { localTime } from '../../../cli/render/table.ts';
import { scriptTerminal } from '../scripted-terminal.ts';

interface Item {
  readonly id: string;
  readonly made: string;
  readonly title?: string;
}

const FORMAT: ListFormat<Item> = {
  columns: {
    ID: ({ id }) => id,
    MADE: ({ made }) => new Date(made),
    TITLE: async ({ title }) => title,
  },
  empty: 'There is no item.',
};
const MADE = '2026-11-01T12:00:00.000Z';
const ITEMS = [
  { id: 'a', made: MADE, title: 'wide 日本\u001b[2J\n\tc' },
  { id: 'long', made: 'never' },
];

async function printed(items: readonly Item[], columns: number | undefined, json = false) {
  const terminal = { ...scriptTerminal({ piped: '' }), columns };
  await printList(terminal, items, FORMAT, json);
  return { out: terminal.out(), screen: terminal.screen() };
}

test('a person gets a table with local times, and no cell leaves its column', async () => {
  const at = localTime(MADE);
  expect(await printed(ITEMS, 80)).toEqual({
    out: [
      `ID    ${'MADE'.padEnd(at.length)}  TITLE\n`,
      `a     ${at}  "wide 日本\\u001b[2J\\n\\tc"\n`,
      'long  unknown\n',
    ].join(''),
    screen: '',
  });
});

test('a pipe gets a line with tabs for each item, with UTC and without a heading', async () => {
  expect(await printed(ITEMS, undefined)).toEqual({
    out: `a\t${MADE}\t"wide 日本\\u001b[2J\\n\\tc"\nlong\tunknown\t\n`,
    screen: '',
  });
});

test('a program gets each item as a line of JSON, and nothing for an empty list', async () => {
  const { out } = await printed(ITEMS, 80, true);
  const lines = out.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(ITEMS);
  expect(await printed([], 80, true)).toEqual({ out: '', screen: '' });
});

test('an empty list is a sentence for the person', async () => {
  const said = { out: '', screen: 'There is no item.\n' };
  expect([await printed([], 80), await printed([], undefined)]).toEqual([said, said]);
});
