import { describe, expect, it } from 'vitest';
import { replaceText } from '../../../bridge/edits/ladder.ts';
import { cpuMsOf } from '../../cpu-time.ts';

interface Case {
  readonly title: string;
  readonly text: string;
  readonly search: string;
  readonly replacement: string;
  readonly all?: boolean;
}

const REPLACED: readonly (Case & { rung: string; becomes: string; lines?: number[] })[] = [
  {
    title: 'an exact piece of a line',
    rung: 'exact',
    text: 'a = 1;\nb = 2;\n',
    search: '1',
    replacement: '3',
    becomes: 'a = 3;\nb = 2;\n',
  },
  {
    title: 'an exact piece over lines',
    rung: 'exact',
    text: 'a\nb\nc\n',
    search: 'b\nc',
    replacement: 'x',
    becomes: 'a\nx\n',
    lines: [2],
  },
  {
    title: 'a replacement with dollar signs, literally',
    rung: 'exact',
    text: 'price\n',
    search: 'price',
    replacement: "$& $1 $$ $` $'",
    becomes: "$& $1 $$ $` $'\n",
  },
  {
    title: 'regular expression signs in the search, literally',
    rung: 'line_ends',
    text: 'f(a.b*[0])\r\n}\r\n',
    search: 'f(a.b*[0])\n}',
    replacement: 'g',
    becomes: 'g\r\n',
  },
  {
    title: 'all occurrences',
    rung: 'exact',
    text: 'x x\nx\n',
    search: 'x',
    replacement: 'yy',
    all: true,
    becomes: 'yy yy\nyy\n',
    lines: [1, 1, 2],
  },
  {
    title: 'all occurrences without overlaps',
    rung: 'exact',
    text: 'aaaa',
    search: 'aa',
    replacement: 'b',
    all: true,
    becomes: 'bb',
    lines: [1, 1],
  },
  {
    title: 'a file without a final newline',
    rung: 'exact',
    text: 'a\nb',
    search: 'b',
    replacement: 'c\nd',
    becomes: 'a\nc\nd',
  },
  {
    title: 'the line end of a CRLF file for a new line',
    rung: 'exact',
    text: 'a\r\nb\r\n',
    search: 'b',
    replacement: 'b\nc',
    becomes: 'a\r\nb\r\nc\r\n',
  },
  {
    title: 'LF asked of a CRLF file',
    rung: 'line_ends',
    text: 'a\r\nb\r\nc\r\n',
    search: 'a\nb',
    replacement: 'x\ny',
    becomes: 'x\r\ny\r\nc\r\n',
  },
  {
    title: 'CRLF asked of an LF file',
    rung: 'exact',
    text: 'a\nb\nc\n',
    search: 'a\r\nb',
    replacement: 'x\r\ny',
    becomes: 'x\ny\nc\n',
  },
  {
    title: 'only the span of a file with mixed line ends',
    rung: 'line_ends',
    text: 'a\nb\r\nc\r\nd\ne\r\n',
    search: 'b\nc',
    replacement: 'x\ny',
    becomes: 'a\nx\r\ny\r\nd\ne\r\n',
  },
  {
    title: 'a line in the LF part of a file with mixed line ends',
    rung: 'exact',
    text: 'a\r\nb\nc\n',
    search: 'b',
    replacement: 'b\nx',
    becomes: 'a\r\nb\nx\nc\n',
  },
  {
    title: 'trailing space in the file, kept on context lines',
    rung: 'trailing_space',
    text: 'a  \nb\t\nc  \n',
    search: 'a\nb\nc',
    replacement: 'a\nB\nc',
    becomes: 'a  \nB\nc  \n',
  },
  {
    title: 'trailing space in the search',
    rung: 'trailing_space',
    text: 'a\nb\n',
    search: 'a \nb ',
    replacement: 'x\ny',
    becomes: 'x\ny\n',
  },
  {
    title: 'trailing space in a CRLF file',
    rung: 'trailing_space',
    text: 'a \r\nb\r\nc\r\n',
    search: 'a\nb\n',
    replacement: 'a\nx\nb\n',
    becomes: 'a \r\nx\r\nb\r\nc\r\n',
  },
  {
    title: 'a pure insertion beside lines with trailing space',
    rung: 'trailing_space',
    text: 'a \nb \n',
    search: 'a\nb\n',
    replacement: 'a\nnew\nb\n',
    becomes: 'a \nnew\nb \n',
  },
  {
    title: 'a deletion with trailing space',
    rung: 'trailing_space',
    text: 'a \nb\nc\n',
    search: 'a\nb\n',
    replacement: 'b\n',
    becomes: 'b\nc\n',
  },
  {
    title: 'a search that ends in a newline the file lacks',
    rung: 'trailing_space',
    text: 'a\nlast ',
    search: 'last\n',
    replacement: 'LAST\n',
    becomes: 'a\nLAST',
  },
  {
    title: 'a whole line deleted at the end',
    rung: 'trailing_space',
    text: 'a\nb \n',
    search: 'b\n',
    replacement: '',
    becomes: 'a\n',
  },
  {
    title: 'typographic quotes in the file',
    rung: 'punctuation',
    text: 'say(“hi” – it’s)\nx\n',
    search: 'say("hi" - it\'s)',
    replacement: 'say("ho")',
    becomes: 'say("ho")\nx\n',
  },
  {
    title: 'typographic quotes in the search',
    rung: 'punctuation',
    text: 'say("hi...")\n',
    search: 'say(“hi…”)',
    replacement: 'say(1)',
    becomes: 'say(1)\n',
  },
  {
    title: 'a missing indentation',
    rung: 'indentation',
    text: 'f {\n    a\n      b\n}\n',
    search: 'a\n  b',
    replacement: 'a\n  c\nd',
    becomes: 'f {\n    a\n      c\n    d\n}\n',
  },
  {
    title: 'too much indentation',
    rung: 'indentation',
    text: 'a\n  b\n',
    search: '    a\n      b',
    replacement: '    a\n      c\n    d',
    becomes: 'a\n  c\nd\n',
  },
  {
    title: 'tabs for spaces, by the indentations asked for',
    rung: 'indentation',
    text: '\tif x:\n\t\ty\n',
    search: '    if x:\n        y',
    replacement: '    if z:\n        y',
    becomes: '\tif z:\n\t\ty\n',
  },
  {
    title: 'blank lines within a shift',
    rung: 'indentation',
    text: '  a\n\n  b\n',
    search: 'a\n\nb',
    replacement: 'a\n\n\nc',
    becomes: '  a\n\n\n  c\n',
  },
];

const REFUSED: readonly (Case & { code: string; says?: RegExp })[] = [
  {
    title: 'two exact places',
    code: 'AMBIGUOUS',
    text: 'x\ny\nx\n',
    search: 'x',
    replacement: 'z',
    says: /2 times, at lines 1 and 3/,
  },
  { title: 'overlapping places', code: 'AMBIGUOUS', text: 'aaa', search: 'aa', replacement: 'b' },
  {
    title: 'two places apart from trailing space',
    code: 'AMBIGUOUS',
    text: 'x \ny\nx  \ny\n',
    search: 'x\ny',
    replacement: 'z',
  },
  {
    title: 'two places apart from the indentation',
    code: 'AMBIGUOUS',
    text: '  x()\n  y\n    x()\n    y\n',
    search: 'x()\ny',
    replacement: 'z',
  },
  {
    title: 'one line of several that differs',
    code: 'NOT_FOUND_IN_FILE',
    text: 'first line\nsecond line\nthird line\n',
    search: 'first line\nsecond lime\nthird line',
    replacement: 'z',
    says: /closest lines are:\n1\|first line\n2\|second line\n3\|third line/,
  },
  {
    title: 'a different letter case',
    code: 'NOT_FOUND_IN_FILE',
    text: 'Alpha\n',
    search: 'alpha',
    replacement: 'z',
  },
  {
    title: 'white space inside a line',
    code: 'NOT_FOUND_IN_FILE',
    text: 'a  = 1\n',
    search: 'a = 1',
    replacement: 'z',
  },
  {
    title: 'an indentation that is off unevenly',
    code: 'NOT_FOUND_IN_FILE',
    text: '  a\n      b\n',
    search: 'a\n b\n  a',
    replacement: 'z',
  },
  {
    title: 'a new indentation that does not follow',
    code: 'NOT_FOUND_IN_FILE',
    text: '\ta\n\t\tb\n',
    search: '    a\n        b',
    replacement: '      c',
    says: /another indentation/,
  },
  {
    title: 'a search of blank lines only',
    code: 'NOT_FOUND_IN_FILE',
    text: 'a\nb\n',
    search: '\n \n',
    replacement: 'z',
  },
  { title: 'nothing to change', code: 'NO_CHANGE', text: 'a\n', search: 'a', replacement: 'a' },
  {
    title: 'an edit that was made before',
    code: 'ALREADY_APPLIED',
    text: 'const name = 2;\n',
    search: 'const name = 1;',
    replacement: 'const name = 2;',
    says: /at line 1/,
  },
  {
    title: 'brackets that stand somewhere are no proof of an edit made',
    code: 'NOT_FOUND_IN_FILE',
    text: 'a(\n)\n',
    search: 'b();',
    replacement: ')',
  },
  {
    title: 'line numbers copied from read_file',
    code: 'LINE_NUMBERS_IN_TEXT',
    text: 'a\nb\n',
    search: '1|a\n2|b',
    replacement: 'c',
  },
  {
    title: 'an empty file',
    code: 'NOT_FOUND_IN_FILE',
    text: '',
    search: 'a',
    replacement: 'b',
    says: /Nothing in the file/,
  },
];

describe('replaceText', () => {
  it.each(REPLACED)('replaces $title', ({ text, search, replacement, all = false, ...row }) => {
    const replaced = replaceText(text, search, replacement, { all });
    expect(replaced).toMatchObject({ ok: true, rung: row.rung, text: row.becomes });
    if (row.lines !== undefined) expect(replaced).toMatchObject({ lines: row.lines });
  });

  it.each(REFUSED)('refuses $title', ({ text, search, replacement, all = false, code, says }) => {
    const refused = replaceText(text, search, replacement, { all });
    expect(refused).toMatchObject({ ok: false, code });
    if (says !== undefined && !refused.ok) expect(refused.message).toMatch(says);
  });

  it('goes back from a replacement to the text it began with', () => {
    for (const { text, search, replacement, rung, all } of REPLACED) {
      if (rung !== 'exact' || all || text.includes('\r') || search.includes('\r')) continue;
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
