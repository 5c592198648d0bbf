import { expect, it } from 'vitest';
import { joinText, mentionOf, openMention, withChosen } from '../../../shared/text/mention-text.ts';
import { findMentions } from '../../../shared/text/mentions.ts';
import { eachOf } from '../../depth.ts';

it.each([
  ['src/a.ts', '@src/a.ts'],
  ['src/', '@src/'],
  ['.cursor/rules/forms.mdc', '@.cursor/rules/forms.mdc'],
  ['a b.ts', '@"a b.ts"'],
  ['app/[id]/page.tsx', '@app/[id]/page.tsx'],
  ['app/[id]', '@"app/[id]"'],
  ['(group)/x.ts', '@"(group)/x.ts"'],
  ['notes.', '@"notes."'],
  ['-x', '@"-x"'],
])('mentions %s as %s', (path, written) => {
  expect(mentionOf(path)).toBe(written);
});

it('writes every path so that a message mentions exactly this path', () => {
  const parts = [
    'a',
    'B.ts',
    ' ',
    '.',
    '-',
    '[',
    ']',
    '(',
    ')',
    ':',
    '1',
    '/',
    '@',
    '+',
    '~',
    'é',
    '漢',
    '"',
    '\\',
    'n',
  ];
  const { length } = parts;
  for (let index = 0; index < length ** 3; index += eachOf(1, 7)) {
    const path = [1, length, length ** 2]
      .map((power) => parts[Math.floor(index / power) % length])
      .join('');
    if (path.trim() === '') continue;
    for (const text of [`see ${mentionOf(path)} `, `${mentionOf(path)}\n`]) {
      expect(findMentions(text), text).toMatchObject([{ type: 'path', path }]);
      expect(findMentions(text)[0]).not.toHaveProperty('lines');
    }
  }
});

it.each<[before: string, open: ReturnType<typeof openMention>]>([
  ['@', { at: 0, query: '' }],
  ['see @src/a', { at: 4, query: 'src/a' }],
  ['(@[id]', { at: 1, query: '[id]' }],
  ['see @"my fi', { at: 4, query: 'my fi' }],
  ['@a @b', { at: 3, query: 'b' }],
  ['@src/a.ts ', undefined],
  ['@"my file"', undefined],
  ['@"a \\"b', { at: 0, query: 'a "b' }],
  ['ada@example', undefined],
  ['@@', undefined],
  ['@a:10', undefined],
  ['@"a\nb', undefined],
  ['nothing', undefined],
  [`${'x '.repeat(10_000)}@y`, { at: 20_000, query: 'y' }],
  [`@${'x'.repeat(201)}`, undefined],
])('sees the open mention at the end of a text', (before, open) => {
  expect(openMention(before)).toEqual(open);
});

it('divides places from the words around them', () => {
  const place = { type: 'path', path: 'a.ts', lines: { from: 1, to: 2 } } as const;
  const text = (words: string) => ({ type: 'text' as const, text: words });
  const around: [before: string, after: string, whole: string][] = [
    ['see', 'now', 'see @a.ts:1-2 now'],
    ['see ', ' now', 'see @a.ts:1-2 now'],
    ['(see (', '), or', '(see (@a.ts:1-2), or'],
    ['', '', '@a.ts:1-2'],
    ['是', '。', '是 @a.ts:1-2 。'],
    ['see', '.ts', 'see @a.ts:1-2 .ts'],
    ['see', '. So', 'see @a.ts:1-2. So'],
    ['a\n', ': b', 'a\n@a.ts:1-2: b'],
  ];
  for (const [before, after, whole] of around) {
    expect(joinText([text(before), place, text(after)])).toBe(whole);
  }
  const url = { type: 'url', url: 'https://a.test/x' } as const;
  expect(joinText([text('a'), { type: 'image_url' }, url, place, text(''), text('b')])).toBe(
    'a @https://a.test/x @a.ts:1-2 b',
  );
});

it('takes the chosen paths out of a text, and no others', () => {
  const names = ['src/', 'src/a.ts', 'a b.ts', 'we"i"rd.ts', '[id]/@x.ts', '漢.ts', 'a.c'];
  const chosen = new Map(names.map((path) => [mentionOf(path), path]));
  const path = (name: string, from?: number, to?: number) => ({
    type: 'path',
    path: name,
    ...(from !== undefined && { lines: { from, to } }),
  });
  const cases: [string, unknown][] = [
    ['nothing', 'nothing'],
    [
      '@src/b.ts @src/a.tsx @src/a.ts.bak @abc ada@src/',
      '@src/b.ts @src/a.tsx @src/a.ts.bak @abc ada@src/',
    ],
    ['@src/', [path('src/')]],
    ['`@src/a.ts`', [{ type: 'text', text: '`' }, path('src/a.ts'), { type: 'text', text: '`' }]],
    ['@src/a.ts:3-9.', [path('src/a.ts', 3, 9), { type: 'text', text: '.' }]],
    ['@src/a.ts:3', [path('src/a.ts', 3, 3)]],
    ['@src/a.ts:9-3', [path('src/a.ts')]],
    ...names.map((name): [string, unknown] => [
      `see ${mentionOf(name)} now`,
      [{ type: 'text', text: 'see ' }, path(name), { type: 'text', text: ' now' }],
    ]),
  ];
  for (const [text, said] of cases) expect(withChosen(text, chosen), text).toEqual(said);
});
