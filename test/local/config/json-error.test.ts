import { expect, test } from 'vitest';
import { findJsonMistake } from '../../../local/config/json-error.ts';

const RIGHT = `{
  "model": "q\\u00e9 \\"x\\"",
  "list": [1, -2.5e+3, true, false, null, {}, []],
  "deep": {"a": {"b": [[0]]}}
}
`;

test.each([
  ['{"a": 1,}', 1, 9, 'a comma stands before }: remove it'],
  ['{"a": [1, ]}', 1, 11, 'a comma stands before ]: remove it'],
  ['{\n  // mine\n}', 2, 3, 'JSON has no comments'],
  ["{'a': 1}", 1, 2, 'JSON has double quotes only'],
  ['{a: 1}', 1, 2, 'a name in double quotes must stand here, not "a"'],
  ['{"a" 1}', 1, 6, 'a colon must stand here, not "1"'],
  ['{"a": 1 "b": 2}', 1, 9, 'a comma or } must stand here, not "\\""'],
  ['{"a": sk_a1b2c3d4e5f6}', 1, 7, 'a value must stand here, not this word'],
  ['{"a": "b\n"}', 1, 7, 'the closing quote of this text is missing'],
  ['{"a": "\\x"}', 1, 8, 'JSON has no such escape'],
  ['{"a": 1', 1, 8, 'the text ends where a comma or } must follow'],
  ['', 1, 1, 'the text ends where a value must follow'],
  ['{} {}', 1, 4, 'the end of the file must stand here, not "{"'],
  ['{"a": 1, "a": 2}', 1, 10, '"a" is set twice'],
  ['['.repeat(40), 1, 33, 'this nests more than 32 levels'],
])('%j: line %i, column %i: %s', (text, line, column, what) => {
  expect(findJsonMistake(text)).toEqual({ line, column, what });
});

test('a text is right exactly if JSON.parse takes it', () => {
  expect(findJsonMistake(RIGHT)).toBeNull();
  const signs = ['', '{', '}', '[', ']', ',', ':', '"', '\\', '0', '1', '-', '.', 'e', '\t', '\n'];
  let right = 0;
  for (let at = 0; at < RIGHT.length; at++) {
    for (const sign of signs) {
      for (const removed of [0, 1]) {
        const text = RIGHT.slice(0, at) + sign + RIGHT.slice(at + removed);
        const isRight = parses(text);
        right += isRight ? 1 : 0;
        if ((findJsonMistake(text) === null) !== isRight) throw new Error(text);
      }
    }
  }
  expect(right).toBeGreaterThan(500);
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
