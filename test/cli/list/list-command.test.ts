import { expect, test } from 'vitest';
import { findItem, type Naming } from '../../../cli/list/list-command.ts';

interface Item {
  readonly id: string;
  readonly label: string;
}

const NAMING: Naming<Item> = {
  command: 'things',
  noun: 'thing',
  id: ({ id }) => id,
  name: ({ label }) => label,
};
const PHONE = { id: 't_1', label: 'phone' };
const OTHER = { id: 't_2', label: 'phone' };
/** Names itself with the id of another one. */
const THIEF = { id: 't_3', label: 't_1' };
const ITEMS = [PHONE, OTHER, THIEF];

test('an item is found by its id, which wins over the name of another, and by a name of one alone', () => {
  expect(findItem(ITEMS, 't_1', NAMING)).toBe(PHONE);
  expect(findItem([PHONE, THIEF], 'phone', NAMING)).toBe(PHONE);
  expect(findItem([PHONE, PHONE], 'phone', NAMING)).toBe(PHONE);
});

test.each([
  ['phone', /^The name phone is ambiguous\. Give one of these ids: t_1, t_2\.$/],
  ['pho', /^There is no thing pho: `.*things` lists them\.$/],
  ['', /^There is no thing : /],
])('%j is refused with what to do', (named, says) => {
  expect(() => findItem(ITEMS, named, NAMING)).toThrow(
    expect.objectContaining({ kind: 'refused', message: expect.stringMatching(says) }),
  );
});
