import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../test/cpu-time.ts';
import { replaceText } from '../ladder.ts';
import type { Rung } from '../match.ts';

/** By their rungs: what is asked of a text, and what it becomes. */
type Replacing = [
  title: string,
  text: string,
  search: string,
  replacement: string,
  becomes: string,
  more?: { readonly all?: boolean; readonly lines?: readonly number[] },
];

const REPLACED: Readonly<Record<Rung, readonly Replacing[]>> = {
  exact: [
    ['an exact piece of a line', 'a = 1;\nb = 2;\n', '1', '3', 'a = 3;\nb = 2;\n'],
    ['an exact piece over lines', 'a\nb\nc\n', 'b\nc', 'x', 'a\nx\n', { lines: [2] }],
    ['dollar signs, literally', 'price\n', 'price', "$& $1 $$ $` $'", "$& $1 $$ $` $'\n"],
    ['all occurrences', 'x x\nx\n', 'x', 'yy', 'yy yy\nyy\n', { all: true, lines: [1, 1, 2] }],
    ['all occurrences without overlaps', 'aaaa', 'aa', 'b', 'bb', { all: true, lines: [1, 1] }],
    ['a file without a final newline', 'a\nb', 'b', 'c\nd', 'a\nc\nd'],
    ['the line end of a CRLF file for a new line', 'a\r\nb\r\n', 'b', 'b\nc', 'a\r\nb\r\nc\r\n'],
    ['CRLF asked of an LF file', 'a\nb\nc\n', 'a\r\nb', 'x\r\ny', 'x\ny\nc\n'],
    ['a line in the LF part of a mixed file', 'a\r\nb\nc\n', 'b', 'b\nx', 'a\r\nb\nx\nc\n'],
  ],
  line_ends: [
    ['signs of an expression, literally', 'f(a.b*[0])\r\n}\r\n', 'f(a.b*[0])\n}', 'g', 'g\r\n'],
    ['LF asked of a CRLF file', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny', 'x\r\ny\r\nc\r\n'],
    [
      'only the span of a mixed file',
      'a\nb\r\nc\r\nd\ne\r\n',
      'b\nc',
      'x\ny',
      'a\nx\r\ny\r\nd\ne\r\n',
    ],
  ],
  trailing_space: [
    ['trailing space, kept in context', 'a  \nb\t\nc  \n', 'a\nb\nc', 'a\nB\nc', 'a  \nB\nc  \n'],
    ['trailing space in the search', 'a\nb\n', 'a \nb ', 'x\ny', 'x\ny\n'],
    [
      'trailing space in a CRLF file',
      'a \r\nb\r\nc\r\n',
      'a\nb\n',
      'a\nx\nb\n',
      'a \r\nx\r\nb\r\nc\r\n',
    ],
    [
      'a pure insertion beside trailing space',
      'a \nb \n',
      'a\nb\n',
      'a\nnew\nb\n',
      'a \nnew\nb \n',
    ],
    ['a deletion with trailing space', 'a \nb\nc\n', 'a\nb\n', 'b\n', 'b\nc\n'],
    ['a search that ends in a newline the file lacks', 'a\nlast ', 'last\n', 'LAST\n', 'a\nLAST'],
    ['a whole line deleted at the end', 'a\nb \n', 'b\n', '', 'a\n'],
  ],
  punctuation: [
    [
      'typographic quotes in the file',
      'say(“hi” – it’s)\nx\n',
      'say("hi" - it\'s)',
      'say("ho")',
      'say("ho")\nx\n',
    ],
    ['typographic quotes in the search', 'say("hi...")\n', 'say(“hi…”)', 'say(1)', 'say(1)\n'],
  ],
  indentation: [
    [
      'a missing indentation',
      'f {\n    a\n      b\n}\n',
      'a\n  b',
      'a\n  c\nd',
      'f {\n    a\n      c\n    d\n}\n',
    ],
    ['too much indentation', 'a\n  b\n', '    a\n      b', '    a\n      c\n    d', 'a\n  c\nd\n'],
    [
      'tabs for spaces, by the indentations asked for',
      '\tif x:\n\t\ty\n',
      '    if x:\n        y',
      '    if z:\n        y',
      '\tif z:\n\t\ty\n',
    ],
    ['blank lines within a shift', '  a\n\n  b\n', 'a\n\nb', 'a\n\n\nc', '  a\n\n\n  c\n'],
  ],
};

type Refused = [
  title: string,
  code: string,
  text: string,
  search: string,
  replacement: string,
  says?: RegExp,
];

const REFUSED: readonly Refused[] = [
  ['two exact places', 'AMBIGUOUS', 'x\ny\nx\n', 'x', 'z', /2 times, at lines 1 and 3/],
  ['overlapping places', 'AMBIGUOUS', 'aaa', 'aa', 'b'],
  ['two places apart from trailing space', 'AMBIGUOUS', 'x \ny\nx  \ny\n', 'x\ny', 'z'],
  [
    'two places but for the indentation',
    'AMBIGUOUS',
    '  x()\n  y\n    x()\n    y\n',
    'x()\ny',
    'z',
  ],
  [
    'one line of several that differs',
    'NOT_FOUND_IN_FILE',
    'first line\nsecond line\nthird line\n',
    'first line\nsecond lime\nthird line',
    'z',
    /closest lines are:\n1\|first line\n2\|second line\n3\|third line/,
  ],
  ['a different letter case', 'NOT_FOUND_IN_FILE', 'Alpha\n', 'alpha', 'z'],
  ['white space inside a line', 'NOT_FOUND_IN_FILE', 'a  = 1\n', 'a = 1', 'z'],
  ['an indentation that is off unevenly', 'NOT_FOUND_IN_FILE', '  a\n      b\n', 'a\n b\n  a', 'z'],
  [
    'an indentation that does not follow',
    'NOT_FOUND_IN_FILE',
    '\ta\n\t\tb\n',
    '    a\n        b',
    '      c',
    /another indentation/,
  ],
  ['a search of blank lines only', 'NOT_FOUND_IN_FILE', 'a\nb\n', '\n \n', 'z'],
  ['nothing to change', 'NO_CHANGE', 'a\n', 'a', 'a'],
  [
    'an edit that was made before',
    'ALREADY_APPLIED',
    'const name = 2;\n',
    'const name = 1;',
    'const name = 2;',
    /at line 1/,
  ],
  ['brackets that stand somewhere', 'NOT_FOUND_IN_FILE', 'a(\n)\n', 'b();', ')'],
  ['line numbers copied from read_file', 'LINE_NUMBERS_IN_TEXT', 'a\nb\n', '1|a\n2|b', 'c'],
  ['an empty file', 'NOT_FOUND_IN_FILE', '', 'a', 'b', /Nothing in the file/],
];

describe('replaceText', () => {
  describe.each(Object.entries(REPLACED))('by the rung %s', (rung, rows) => {
    it.each<Replacing>(rows)('replaces %s', (_, text, search, replacement, becomes, more = {}) => {
      const { lines, all = false } = more;
      expect(replaceText(text, search, replacement, { all })).toMatchObject({
        ok: true,
        rung,
        text: becomes,
        ...(lines && { lines }),
      });
    });
  });

  it.each<Refused>(REFUSED)('refuses %s', (_, code, text, search, replacement, says = /./) => {
    const message = expect.stringMatching(says);
    expect(replaceText(text, search, replacement)).toMatchObject({ ok: false, code, message });
  });

  it('goes back from a replacement to the text it began with', () => {
    for (const [, text, search, replacement, , more] of REPLACED.exact) {
      if (more?.all || text.includes('\r') || search.includes('\r')) continue;
      const there = replaceText(text, search, replacement);
      const back = there.ok && replaceText(there.text, replacement, search);
      expect(back).toMatchObject({ ok: true, text });
    }
  });

  it('stays quick where a search stands very often, on one long line', () => {
    const line = 'x'.repeat(500_000);
    const cpuMs = cpuMsOf(() => {
      expect(replaceText(line, 'x', 'y')).toMatchObject({ code: 'AMBIGUOUS' });
      const replaced = replaceText(line, 'x', 'y', { all: true });
      expect(replaced).toMatchObject({ ok: true, text: 'y'.repeat(500_000) });
    });
    expect(cpuMs).toBeLessThan(5_000);
  });

  it('is bounded where a search stands nearly everywhere in a large file', () => {
    const text = ' '.repeat(4_000_000);
    const before = process.memoryUsage().rss;
    const answers = [true, false].map((all) => replaceText(text, ' ', 'x', { all }));
    const taken = process.memoryUsage().rss - before;
    expect({ answers, isBounded: taken < 500_000_000 }).toMatchObject({
      answers: [{ code: 'AMBIGUOUS' }, { code: 'AMBIGUOUS' }],
      isBounded: true,
    });
  });
});
