import { expect, it } from 'vitest';
import { mentionOf, openMention } from '../../../shared/text/mention-text.ts';
import { findMentions } from '../../../shared/text/mentions.ts';

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
  ];
  const { length } = parts;
  for (let index = 0; index < length ** 3; index++) {
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
