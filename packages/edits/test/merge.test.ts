import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../test/cpu-time.ts';
import { mergeEdit } from '../merge.ts';

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

const itemOf = (name: string) => `  {\n    ${name},\n    on: true,\n  },\n`;

/** Each has a wrong reading that keeps more equal lines than the meant one. */
const MISREAD: readonly { title: string; text: string; edit: string }[] = [
  {
    title: 'a new item between two that share lines with a third one',
    text: `const list = [\n${['x', 'y', 'z'].map(itemOf).join('')}];\n`,
    edit: `${MARK}\n${['y', 'n', 'z'].map(itemOf).join('')}${MARK}\n`,
  },
  {
    title: 'a line that is new in one section and stands in another',
    text: '[a]\nid = 1\n\n[b]\nid = 2\non = true\n\n[c]\nid = 3\n',
    edit: `${MARK}\n[a]\non = true\n${MARK}\n`,
  },
  {
    title: 'new lines at the end of a function that stand in the next one',
    text: 'function a() {\n  one();\n}\n\nfunction b() {\n  three();\n  if (!x) {\n    return;\n  }\n  four();\n}\n',
    edit: `${MARK}\nfunction a() {\n  ${MARK}\n  if (!x) {\n    return;\n  }\n}\n${MARK}\n`,
  },
  {
    title: 'a new function with lines of the one above it',
    text: 'create table one (\n  id int,\n  title text,\n  size int\n);\n\ncreate table two (\n  id int,\n  kind text\n);\n',
    edit: `${MARK}\ncreate table fresh (\n  id int,\n  mail text\n);\n\ncreate table two (\n${MARK}\n`,
  },
  {
    title: 'a whole function with another body, where an inner end could be its own',
    text: 'def save(x)\n  one(x)\n  two(x)\n  if x.nil?\n    return nil\n  end\n  three(x)\nend\n\ndef load(x)\n  four(x)\nend\n',
    edit: `${MARK}\ndef save(x)\n  five(x)\n  if x.bad?\n    return 0\n  end\n  six(x)\nend\n${MARK}\n`,
  },
  {
    title: 'a changed head in a file whose brackets do not balance',
    text: 'source ./a.sh\n\nsync_user() {\n  echo "p"\n}\n\ncase "$1" in\n  a)\n    b\n    ;;\nesac\n',
    edit: `source ./a.sh\n\nfunction sync_user() {\n${MARK}\n`,
  },
  {
    title: 'a forgotten marker at the start, with context from the middle',
    text: 'variable one\nvariable two\n\nresource x {\n  kind = one\n  size = 3\n  name = two\n}\n',
    edit: `  kind = one\n  size = 14\n${MARK}\n`,
  },
  {
    title: 'a forgotten marker at the start, with a new method above',
    text: 'import a\nimport b\n\nclass C:\n    def load(x):\n        one(x)\n        two(x)\n',
    edit: `    def fresh(x):\n        six(x)\n\n    def load(x):\n        one(x)\n${MARK}\n`,
  },
  {
    title: 'a forgotten marker at the end, with the last line of the file',
    text: 'module A\n  def save(x)\n    one(x)\n  end\nend\n',
    edit: `module A\n  def save(x, y)\n  ${MARK}\n  end\n`,
  },
  {
    title: 'a new body whose head, with the brace below it, is not shown',
    text: 'int a()\n{\n    if (x)\n    {\n        one();\n    }\n    two();\n    return r;\n}\n\nint b()\n{\n    three();\n    return s;\n}\n',
    edit: `${MARK}\n    return r;\n}\n\nint fresh()\n{\n    four();\n    return s;\n}\n\n${MARK}\n`,
  },
  {
    title: 'a new body that leaves the end of the old one behind its return',
    text: 'def a(x):\n    one(x)\n    if x:\n        two(x)\n    else:\n        three(x)\n    four(x)\n    return x\n\n\ndef b(x):\n    five(x)\n    return y\n',
    edit: `${MARK}\ndef a(x):\n    six(x)\n    if x:\n        seven(x)\n    return y\n${MARK}\n`,
  },
  {
    title: 'a new function below an end that would close twice',
    text: 'module A\n  def one(x)\n    first(x)\n    return x\n  end\n\n  def two(x)\n    second(x)\n    third(x)\n    return y\n  end\nend\n',
    edit: `${MARK}\n  end\n\n  def fresh(x)\n    second(x)\n    other(x)\n    return y\n  end\nend\n`,
  },
  {
    title: 'the top of a file that would begin inside a unit',
    text: '<style>\n.a {\n  width: 1px;\n}\n</style>\n',
    edit: `  padding: 8px;\n}\n\n.b, .c {\n  width: 2px;\n\n${MARK}\n`,
  },
];

describe('mergeEdit', () => {
  it.each(MISREAD)('refuses $title', ({ text, edit }) => {
    expect(mergeEdit(text, edit)).toMatchObject({
      ok: false,
      code: expect.stringMatching(/^(?:AMBIGUOUS|TOO_MUCH_DELETED)$/),
    });
  });

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
    const edit = `${MARK}\n\n}\nsame line\nnew\nsame line\n\n}\n${MARK}`;
    expect(cpuMsOf(() => mergeEdit(text, edit))).toBeLessThan(2_000);
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
  let merged: unknown;
  const cpuMs = cpuMsOf(() => {
    merged = mergeEdit(file, `${MARK}\n${block}${MARK}\n`);
  });
  expect(merged).toMatchObject({ ok: false, code });
  expect(cpuMs).toBeLessThan(1_500);
});
