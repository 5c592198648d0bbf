import { describe, expect, it } from 'vitest';
import { Fence } from '../../../shared/shown/fence.ts';

describe('code that is known goes into one block, with a fence longer than any in it', () => {
  it.each<[string, string, string, string]>([
    ['code', 'js', 'let a;', '```js\nlet a;\n```'],
    ['no info', '', 'x\n\ny', '```\nx\n\ny\n```'],
    ['no code', 'js', '', '```js\n```'],
    ['an empty first line', '', '\nx', '```\n\nx\n```'],
    ['a fence in it', 'md', '# A\n```js\nx\n```', '````md\n# A\n```js\nx\n```\n````'],
    ['a longer one', 'md', '`````', '``````md\n`````\n``````'],
    ['backticks within a line', 'md', 'a ```` b', '```md\na ```` b\n```'],
    ['a fence that is too far in', 'md', '    ```', '```md\n    ```\n```'],
    ['an info with a backtick', 'a`b', 'x\n```', '~~~a`b\nx\n```\n~~~'],
    ['such an info that begins with a tilde', '~a`b', 'x', '~~~ ~a`b\nx\n~~~'],
    ['such an info and tildes', 'a`b', '~~~', '~~~~a`b\n~~~\n~~~~'],
  ])('%s', (_, info, code, expected) => {
    expect(wrap(info, [code], code)).toBe(expected);
  });
});

describe('code that is still coming goes on in another block where it would end the first', () => {
  it.each<[string, string, string]>([
    ['no fence', 'a\n``\nb', '```md\na\n``\nb\n```'],
    ['a fence', 'a\n```js\nx\n```\nb', '```md\na\n```\n\n````md\n```js\nx\n```\nb\n````'],
    [
      'longer and longer ones',
      '```\n````',
      '```md\n```\n\n````md\n```\n````\n\n`````md\n````\n`````',
    ],
    ['a fence at the very end', 'a\n  ```', '```md\na\n```\n\n````md\n  ```\n````'],
    ['a blank end', 'a\n ', '```md\na\n \n```'],
  ])('%s, however it is cut', (_, code, expected) => {
    for (let at = 0; at <= code.length; at++) {
      expect(wrap('md', [code.slice(0, at), code.slice(at)], '')).toBe(expected);
    }
    expect(wrap('md', code.split(''), '')).toBe(expected);
  });
});

it('decides about a line of marks without end in one pass', () => {
  const marks = '`'.repeat(300_000);
  // With a pass for each mark this test would take minutes.
  const text = wrap('md', marks.split(''), '');
  expect(text).toBe(`\`\`\`md\n\`\`\`\n\n\`${marks}md\n${marks}\n\`${marks}`);
});

function wrap(info: string, pieces: readonly string[], known: string): string {
  const fence = new Fence(info, known);
  return fence.open() + pieces.map((piece) => fence.push(piece)).join('') + fence.close();
}
