import { expect, it } from 'vitest';
import { shownOf } from '../../../cli/tui/input/shell.ts';

it.each([
  ['one\ntwo\n', 'one\ntwo'],
  ['one\r\ntwo\r\n', 'one\ntwo'],
  ['10 %\r50 %\r100 %\ndone\n', '100 %\ndone'],
  ['\x1b[?1049hall of vim\x1b[?1049l', ''],
  ['', ''],
])('shows what a terminal shows at the end of %j', (output, shown) => {
  expect(shownOf(output)).toBe(shown);
});

it('shows the last lines of a long output, and how many stood before', () => {
  const lines = Array.from({ length: 150 }, (_, index) => `line ${index}`);
  expect(shownOf(lines.join('\n')).split('\n')).toEqual(['… 50 lines before', ...lines.slice(50)]);
});
