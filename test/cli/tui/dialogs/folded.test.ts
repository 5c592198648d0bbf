import { visibleWidth } from '@earendil-works/pi-tui';
import { expect, it } from 'vitest';
import { CONTINUED, folded } from '../../../../cli/tui/dialogs/folded.ts';
import { inOneLine } from '../../../../shared/text/plain-sight.ts';

const PIECES = [
  ...[
    'word',
    ' ',
    '  ',
    '漢字',
    'é',
    'e\u0301',
    '한',
    'عربى',
    '👍',
    '👍🏽',
    '🇩🇪',
    '👨‍👩‍👧',
    '\u0301',
  ],
  ...[
    '  sandbox: none',
    '↳ ',
    '\x1b[2J',
    '\u202e',
    '\u200b',
    '️',
    '①',
    'x'.repeat(50),
    ' '.repeat(90),
  ],
];

it('cuts a line into pieces that fit, and leaves nothing out', () => {
  for (let seed = 0; seed < 3_000; seed++) {
    const chosen = Array.from(
      { length: 8 },
      (_, at) => PIECES[(seed * (at + 7) + at * at) % PIECES.length],
    );
    const text = inOneLine(chosen.join(''));
    const width = 16 + (seed % 70);
    const pieces = folded(text, width);
    const [first = '', ...rest] = pieces;
    expect(pieces.filter((piece) => visibleWidth(piece) > width)).toEqual([]);
    expect(rest.filter((piece) => !piece.startsWith(CONTINUED))).toEqual([]);
    expect(first + rest.map((piece) => piece.slice(CONTINUED.length)).join('')).toBe(text);
  }
});

it('breaks after a blank where one is near', () => {
  expect(folded('a sentence of some words', 12)).toEqual(['a sentence ', '↳ of some ', '↳ words']);
  expect(folded('', 12)).toEqual(['']);
});
