import { expect, it } from 'vitest';
import { plain } from '../../../../cli/terminal/paint.ts';
import { ScrollText } from '../../../../cli/tui/dialogs/scroll-text.ts';
import { KEYS } from './opened-slot.ts';

const DOWN = '\x1b[1;2B';

function newText(count: number): ScrollText {
  return new ScrollText(
    Array.from({ length: count }, (_, at) => ({ text: `line ${at + 1}` })),
    plain,
  );
}

it('has shown its end only when the last line was on the screen', () => {
  const text = newText(9);
  expect(text.render(40, 6)).toEqual([
    ...[1, 2, 3, 4, 5].map((at) => `line ${at}`),
    'Lines 1-5 of 9 · Space reads on',
  ]);
  for (const last of [6, 7, 8]) {
    text.handleKey(DOWN);
    expect(text.render(40, 6).at(-1)).toBe(`Lines ${last - 4}-${last} of 9 · Space reads on`);
    expect(text.hasShownEnd).toBe(false);
  }
  text.handleKey(DOWN);
  expect(text.hasShownEnd).toBe(false);
  expect(text.render(40, 6).slice(-2)).toEqual(['line 9', 'Lines 5-9 of 9']);
  expect(text.hasShownEnd).toBe(true);
});

it('shows the whole text where there is room', () => {
  const text = newText(6);
  expect(text.render(40, 6)).toHaveLength(6);
  expect(text.hasShownEnd).toBe(true);
});

it('scrolls by pages without leaving out a line, and stays at its ends', () => {
  const text = newText(100);
  const seen = new Set<string>();
  for (let page = 0; page < 12; page++) {
    for (const line of text.render(40, 10).slice(0, -1)) seen.add(line);
    text.handleKey(' ');
  }
  expect(seen.size).toBe(100);
  expect(text.render(40, 10)[0]).toBe('line 92');
  text.handleKey('\x1b[H');
  text.handleKey(KEYS.pageUp);
  expect(text.render(40, 10)[0]).toBe('line 1');
});
