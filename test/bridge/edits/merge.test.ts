import { describe, expect, it } from 'vitest';
import { mergeEdit } from '../../../bridge/edits/merge.ts';

const MARK = '// ... existing code ...';
const FILE = `import { a } from './a.ts';
import { b } from './b.ts';

export function first() {
  return a();
}

export function second() {
  const value = b();
  return value;
}

export function third() {
  return 3;
}
`;

const REPEATED = Array.from(
  { length: 3 },
  (_, i) => `test('case ${i}', () => {\n  run();\n  check();\n});\n`,
).join('\n');

const MERGED: readonly { title: string; text?: string; edit: string; becomes: string }[] = [
  {
    title: 'a change in the middle',
    edit: `${MARK}\nexport function second() {\n  const value = b() + 1;\n  return value;\n}\n${MARK}`,
    becomes: FILE.replace('b();', 'b() + 1;'),
  },
  {
    title: 'two changes in order',
    edit: `${MARK}\nexport function first() {\n  return a() + 1;\n}\n\nexport function second() {\n${MARK}\nexport function third() {\n  return 33;\n}\n`,
    becomes: FILE.replace('a();', 'a() + 1;').replace('return 3;', 'return 33;'),
  },
  {
    title: 'a block at the start without a marker',
    edit: `import { a } from './a.ts';\nimport { b } from './b.ts';\nimport { c } from './c.ts';\n\nexport function first() {\n${MARK}\n`,
    becomes: FILE.replace("'./b.ts';\n", "'./b.ts';\nimport { c } from './c.ts';\n"),
  },
  {
    title: 'a block at the end without a marker',
    edit: `${MARK}\nexport function third() {\n  return 3;\n}\n\nexport const end = 1;\n`,
    becomes: `${FILE}\nexport const end = 1;\n`,
  },
  {
    title: 'lines taken away between two unchanged ones',
    edit: `${MARK}\nexport function second() {\n  return b();\n}\n\nexport function third() {\n  return 3;\n${MARK}`,
    becomes: FILE.replace('  const value = b();\n  return value;\n', '  return b();\n'),
  },
  {
    title: 'a CRLF file',
    text: FILE.replaceAll('\n', '\r\n'),
    edit: `${MARK}\nexport function second() {\n  const value = b();\n  log(value);\n  return value;\n}\n${MARK}`,
    becomes: FILE.replace('b();\n', 'b();\n  log(value);\n').replaceAll('\n', '\r\n'),
  },
  {
    title: 'a file with mixed line ends, which stay outside the change',
    text: 'alpha one\r\nbeta two\ngamma three\r\ndelta four\nepsilon five\r\n',
    edit: '# ... existing code ...\nbeta two\nnew line\ngamma three\n# ... existing code ...\n',
    becomes: 'alpha one\r\nbeta two\nnew line\r\ngamma three\r\ndelta four\nepsilon five\r\n',
  },
  {
    title: 'a file without a final newline',
    text: FILE.trimEnd(),
    edit: `${MARK}\nexport function third() {\n  return 4;\n}\n`,
    becomes: FILE.trimEnd().replace('return 3;', 'return 4;'),
  },
  {
    title: 'blank lines beside a marker, which are layout',
    text: 'a\n\n\ndef f():\n    return 1\n',
    edit: 'a\n\n# ... existing code ...\n\n    return 2\n',
    becomes: 'a\n\n\ndef f():\n    return 2\n',
  },
  {
    title: 'one more import before a marker',
    edit: `import { a } from './a.ts';\nimport { b } from './b.ts';\nimport { c } from './c.ts';\n\n${MARK}\n`,
    becomes: FILE.replace("'./b.ts';\n", "'./b.ts';\nimport { c } from './c.ts';\n"),
  },
  {
    title: 'a changed line beside a marker',
    edit: `${MARK}\nexport function third() {\n  return 4;\n  // fresh\n${MARK}`,
    becomes: FILE.replace('return 3;', 'return 4;\n  // fresh'),
  },
  {
    title: 'a changed first line of a function',
    edit: `${MARK}\nexport function second(more: number) {\n  const value = b();\n${MARK}`,
    becomes: FILE.replace('second()', 'second(more: number)'),
  },
  {
    title: 'a function that is added at the end, with the blank line above it',
    edit: `${MARK}\n\nexport function fourth() {\n  return 44;\n}\n`,
    becomes: `${FILE}\nexport function fourth() {\n  return 44;\n}\n`,
  },
  {
    title: 'a block that changes nothing beside one that does',
    text: REPEATED,
    edit: `${MARK}\ntest('case 0', () => {\n  run();\n  check();\n});\n${MARK}\ntest('case 2', () => {\n  run();\n  changed();\n});\n`,
    becomes: REPEATED.replace(/check(?=\(\);\n\}\);\n$)/, 'changed'),
  },
  {
    title: 'dollar signs, literally',
    edit: `${MARK}\nexport function third() {\n  return '$& $1';\n}\n`,
    becomes: FILE.replace('return 3;', () => "return '$& $1';"),
  },
];

const LONG = Array.from({ length: 400 }, (_, i) => `line number ${i}`).join('\n');

const REFUSED: readonly {
  title: string;
  text?: string;
  edit: string;
  code: string;
  says?: RegExp;
}[] = [
  {
    title: 'a last function that may be new or have a new name',
    edit: `${MARK}\nexport function fourth() {\n  return 3;\n}\n`,
    code: 'AMBIGUOUS',
    says: /unclear whether/,
  },
  {
    title: 'a last line that may be new or another version',
    text: 'app.use(one);\napp.use(two);\n',
    edit: `${MARK}\napp.use(three);\n`,
    code: 'AMBIGUOUS',
    says: /unclear whether/,
  },
  {
    title: 'a marker that stands for nothing beside deleted lines',
    text: 'alpha one\nbeta two\ngamma three\ndelta four\n',
    edit: `${MARK}\nalpha one\ngamma three\n${MARK}\n`,
    code: 'TOO_MUCH_DELETED',
    says: /stand for no line/,
  },
  {
    title: 'a block without a line of the file',
    edit: `${MARK}\nfirstNew();\nsecondNew();\n${MARK}\n`,
    code: 'NO_ANCHOR',
    says: /firstNew/,
  },
  {
    title: 'context in another indentation',
    edit: `${MARK}\n    const value = b();\n    const more = 1;\n    return value;\n${MARK}`,
    code: 'NO_ANCHOR',
  },
  {
    title: 'blocks in the wrong order',
    edit: `${MARK}\nexport function third() {\n  return 4;\n}\n${MARK}\nexport function first() {\n  return 1;\n}\n${MARK}`,
    code: 'NO_ANCHOR',
  },
  {
    title: 'context that fits several places',
    text: REPEATED,
    edit: `${MARK}\n  run();\n  runAgain();\n  check();\n${MARK}`,
    code: 'AMBIGUOUS',
    says: /fits lines/,
  },
  {
    title: 'a forgotten marker at the end of a long file',
    text: LONG,
    edit: `${MARK}\nline number 10\nchanged\nline number 12\n`,
    code: 'TOO_MUCH_DELETED',
    says: /no marker at the edge/,
  },
  {
    title: 'a forgotten marker at the end',
    text: LONG.split('\n').slice(0, 100).join('\n'),
    edit: `${MARK}\nline number 10\nchanged\nline number 12\n`,
    code: 'TOO_MUCH_DELETED',
    says: /no marker at the edge/,
  },
  {
    title: 'a large deletion that is not named',
    text: LONG,
    edit: `${MARK}\nline number 10\nline number 120\n${MARK}\nline number 200\nline number 320\n${MARK}`,
    code: 'TOO_MUCH_DELETED',
    says: /would delete/,
  },
  {
    title: 'an edit that changes nothing',
    edit: `${MARK}\nexport function second() {\n  const value = b();\n${MARK}`,
    code: 'NO_CHANGE',
  },
  { title: 'an empty file', text: '', edit: `${MARK}\nx\n${MARK}`, code: 'NO_ANCHOR' },
];

describe('mergeEdit', () => {
  it.each(MERGED)('merges $title', ({ text = FILE, edit, becomes }) => {
    expect(mergeEdit(text, edit)).toEqual({ ok: true, text: becomes });
  });

  it.each(REFUSED)('refuses $title', ({ text = FILE, edit, code, says }) => {
    const refused = mergeEdit(text, edit);
    expect(refused).toMatchObject({ ok: false, code });
    if (says !== undefined && !refused.ok) expect(refused.message).toMatch(says);
  });

  it('takes only markers for no edit at all', () => {
    expect(mergeEdit(FILE, `${MARK}\n\n${MARK}\n`)).toMatchObject({ ok: false, code: 'NO_CHANGE' });
  });

  it('stays quick on a long file of equal lines', () => {
    const text = 'same line\n\n}\n'.repeat(2_000);
    const start = performance.now();
    mergeEdit(text, `${MARK}\n\n}\nsame line\nnew\nsame line\n\n}\n${MARK}`);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

it.each([
  [
    'a block of lines that a file repeats',
    'foo bar\n'.repeat(20_000),
    'foo bar\n'.repeat(3_000),
    'AMBIGUOUS',
  ],
  ['brackets in a file of brackets', '}\n'.repeat(20_000), '}\nnew\n}\n', 'NO_ANCHOR'],
  ['a line in a file of it', 'foo bar\n'.repeat(20_000), 'foo bar\nnew\nfoo bar\n', 'AMBIGUOUS'],
])('refuses soon what fits nearly everywhere: %s', (_, file, block, code) => {
  const start = performance.now();
  const merged = mergeEdit(file, `${MARK}\n${block}${MARK}\n`);
  expect({ merged, isSoon: performance.now() - start < 1_500 }).toEqual({
    merged: expect.objectContaining({ ok: false, code }),
    isSoon: true,
  });
});
