import { visibleWidth } from '@earendil-works/pi-tui';
import { expect, it } from 'vitest';
import { plain } from '../../../cli/terminal/paint.ts';
import { FilterList } from '../../../cli/tui/input/filter-list.ts';

const ITEMS = [
  { value: 'a', label: 'A whale', description: 'sea · now' },
  { value: 'b', label: 'A horse', description: 'land · 3 d ago' },
  { value: 'c', label: '漢字の長い名前がここにあります', description: 'e\u0301 '.repeat(50) },
];

function openList() {
  const chosen: (string | undefined)[] = [];
  const onChoice = (value: string | undefined) => void chosen.push(value);
  const list = new FilterList({ title: 'Go on with', items: ITEMS, paint: plain, onChoice });
  const type = (text: string) => {
    for (const character of text) list.handleInput(character);
  };
  return { list, chosen, type };
}

it('narrows by label and description, and gives what Enter chooses', () => {
  const { list, chosen, type } = openList();
  type('land');
  expect(list.render(80).join('\n')).toContain('→ A horse');
  expect(list.render(80).join('\n')).not.toContain('whale');
  type('\r');
  expect(chosen).toEqual(['b']);
});

it('says that nothing fits, and chooses nothing then', () => {
  const { list, chosen, type } = openList();
  type('xyz');
  expect(list.render(80).join('\n')).toContain('Nothing fits');
  type('\r');
  expect(chosen).toEqual([]);
  type('\x1b');
  expect(chosen).toEqual([undefined]);
});

it.each([20, 40, 80, 200])('fits into %i columns', (columns) => {
  const { list } = openList();
  const widths = list.render(columns).map(visibleWidth);
  expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
});
