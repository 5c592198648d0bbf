import { describe, expect, it } from 'vitest';
import { MENTION_LIMITS } from '../../../shared/limits.ts';
import {
  CalledMention,
  findCalled,
  findMentions,
  PlaceMention,
} from '../../../shared/text/mentions.ts';

const file = (path: string, from?: number, to = from) => ({
  type: 'path',
  path,
  ...(from !== undefined && { lines: { from, to } }),
  isCertain: true,
});
const word = (path: string) => ({ type: 'path', path, isCertain: false });
const page = (url: string) => ({ type: 'url', url });

it.each([
  ['/review', 'review', ''],
  [' /git:sync  all of it\nnow', 'git:sync', 'all of it\nnow'],
  ['/a.b-c_1 x', 'a.b-c_1', 'x'],
])('a message calls a skill or a command: %j', (text, name, args) => {
  const called = findCalled(text);
  expect(called).toEqual({ type: 'command', name, args });
  expect(CalledMention.parse(called)).toEqual(called);
});

it.each([
  '/home/ada/x is broken',
  'see /review',
  '//comment',
  '/',
  '/ x',
  `/${'x'.repeat(65)}`,
  '/-x',
])('a message calls nothing: %j', (text) => {
  expect(findMentions(text)).toEqual([]);
});

it('a message calls a command with words of a bounded length', () => {
  const called = findCalled(`/fix ${'x'.repeat(20_000)}`);
  expect(CalledMention.parse(called).args).toHaveLength(8_000);
});

describe('a message mentions', () => {
  it.each<[string, object[]]>([
    ['see @src/a.ts, and @b.ts.', [file('src/a.ts'), file('b.ts')]],
    ['(@c.py) [@d.rs] "@e.go"', [file('c.py'), file('d.rs'), file('e.go')]],
    ['@"a b.ts" and @"x y":3-5', [file('a b.ts'), file('x y', 3, 5)]],
    ['@src/a.ts:10-20 @LICENSE:5', [file('src/a.ts', 10, 20), file('LICENSE', 5)]],
    ['@file:LICENSE @folder:src @path:x', [file('LICENSE'), file('src'), file('x')]],
    ['@file:"a b"', [file('a b')]],
    ['@src/ @docs', [word('src/'), word('docs')]],
    ['@app/[id]/page.tsx', [file('app/[id]/page.tsx')]],
    ['@Größe.md', [file('Größe.md')]],
    ['@../x.ts @/abs/x.ts @.env', [file('../x.ts'), file('/abs/x.ts'), file('.env')]],
    ['@https://example.com/a(b)?c=d#e.', [page('https://example.com/a(b)?c=d#e')]],
    ['(see @http://example.com/x)', [page('http://example.com/x')]],
    ['@a.ts @a.ts @a.ts:1', [file('a.ts'), file('a.ts', 1)]],
  ])('%s', (text, expected) => {
    expect(findMentions(text)).toEqual(expected);
    for (const mention of findMentions(text)) expect(PlaceMention.parse(mention)).toEqual(mention);
  });
});

describe('a message mentions nothing by', () => {
  it.each([
    ['an address of e-mail', 'write to ada@example.com'],
    ['the call of a decorator', '@Component({}) @app.route("/")'],
    ['code', 'say `@src/a.ts` or\n```\n@src/a.ts\n```\n'],
    ['an open fence', '```\n@src/a.ts'],
    ['a fence with signs at the end of a line', '```a.txt\nsee @a.ts and ```\n@b.ts\n```'],
    ['a longer fence around a fence', '````\n```\n@a.ts\n```\n@b.ts\n````\n'],
    ['a fence of tildes', '~~~\n@a.ts\n```\n~~~'],
    ['a fence in a quotation', '> ```\n> @a.ts\n> ```'],
    ['three signs within a line', 'say ``` @a.ts ``` or ```@b.ts```'],
    ['an @ alone', '@ @. @- @"" @" "'],
    ['a path longer than any', `@${'a/'.repeat(600)}`],
  ])('%s', (_, text) => {
    expect(findCalled(text)).toBeUndefined();
  });
});

it('finds what stands behind code', () => {
  for (const code of ['```\n```', '```ts\nx\n````', '~~~\n~~~', '``', '> ```\n> x\n> ```']) {
    expect(findMentions(`${code}\n@a.ts`)).toEqual([file('a.ts')]);
  }
});

it('takes words for words unless they can only mean a file', () => {
  expect(findMentions('@ada @types/node @babel/core @v1.2 @http://')).toEqual(
    ['ada', 'types/node', 'babel/core', 'v1.2', 'http'].map(word),
  );
});

it('takes the first lines for what they are, and a range that is none for no range', () => {
  expect(findMentions('@a.ts:0 @b.ts:9-3 @c.ts: yes')).toEqual([
    file('a.ts'),
    file('b.ts'),
    file('c.ts'),
  ]);
});

it('takes a bounded number of mentions, and texts that are long on purpose', () => {
  const many = Array.from({ length: 100 }, (_, index) => `@f${index}.ts`).join(' ');
  expect(findMentions(many)).toHaveLength(MENTION_LIMITS.maxMentions);
  for (const unit of [
    '.',
    '@"',
    '`',
    '@',
    '@a',
    '[',
    '@https://',
    '\n```',
    '\n````\n```',
    '\n ~~~',
    '\n>```\n',
  ]) {
    expect(findMentions(`@${unit.repeat(100_000)}a`).length).toBeLessThanOrEqual(
      MENTION_LIMITS.maxMentions,
    );
  }
});
