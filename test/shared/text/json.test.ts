import { describe, expect, it } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import {
  indentedJson,
  JsonDepthError,
  LEFT_OUT,
  nestsDeeper,
  parseJson,
  parsePruned,
} from '../../../shared/text/json.ts';
import { JSON_LIMITS } from '../../../shared/text/limits.ts';
import { expectEqual } from '../../expect-equal.ts';

const { maxDepth } = JSON_LIMITS;
const HUGE = 1_000_000;

describe('a text within the bound is parsed', () => {
  it.each([
    ['arrays', nested(maxDepth, '[', ']')],
    ['objects', nested(maxDepth, '{"a":', '}')],
    ['brackets in a string', JSON.stringify('[{'.repeat(HUGE))],
    ['brackets behind an escaped quote', JSON.stringify({ a: `\\"${'['.repeat(HUGE)}\\` })],
    ['brackets in a name', JSON.stringify({ ['{'.repeat(HUGE)]: 1 })],
    ['many in a row', `[${'[],'.repeat(HUGE)}{}]`],
    ['a number', '7'],
  ])('%s', (_, text) => {
    expectEqual(parseJson(text), JSON.parse(text));
  });
});

describe('a text beyond the bound is refused', () => {
  it.each([
    ['one level more, arrays', nested(maxDepth + 1, '[', ']')],
    ['one level more, objects', nested(maxDepth + 1, '{"a":', '}')],
    ['a million levels', nested(HUGE, '[', ']')],
    ['a million levels of objects', nested(HUGE, '{"a":', '}')],
    ['behind much that is flat', `[${'[],'.repeat(1_000)}${nested(maxDepth, '[', ']')}]`],
    ['behind quotes', `["\\"", "\\\\", ${nested(maxDepth, '[', ']')}]`],
  ])('%s', (_, text) => {
    expect(() => parseJson(text)).toThrow(JsonDepthError);
  });

  it('names a short path to the place that is too deep', () => {
    const key = 'k'.repeat(HUGE);
    const deep = nested(maxDepth, `{"${key}":`, '}', '[]');
    expect(pathOf(`{"a": [1, {"b": ${deep}}], "c": []}`)).toEqual([
      'a',
      1,
      'b',
      ...Array(3).fill(key.slice(0, JSON_LIMITS.shownKeyChars)),
    ]);
  });

  it('refuses what is no JSON as such, however deep it looks', () => {
    for (const text of ['['.repeat(HUGE), '{"a":'.repeat(HUGE), `"${'['.repeat(HUGE)}`, '']) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
  });
});

it('knows the depth of anything', () => {
  const random = new Random(7);
  const make = (room: number): unknown => {
    const kind = random.below(room > 0 ? 6 : 3);
    if (kind === 0) return random.pick(['[', '"', '\\', '{"', '\\"]']);
    if (kind === 1) return random.below(100);
    if (kind === 2) return null;
    const members = Array.from({ length: random.below(4) }, () => make(room - 1));
    if (kind < 5) return members;
    return Object.fromEntries(members.map((member, index) => [`"[${index}\\`, member]));
  };
  for (let round = 0; round < 2_000; round++) {
    const value = make(9);
    const text = JSON.stringify(value, null, random.below(3));
    const depth = depthOf(value);
    for (let bound = 1; bound <= 10; bound++) {
      // A short text is let through unread only where it cannot be deeper.
      expectEqual([text, bound, nestsDeeper(text, bound)], [text, bound, depth > bound]);
    }
  }
});

it('leaves out what lies too deep and keeps the rest', () => {
  const text = '{"a": [1, [2, [3]]], "b": {"__proto__": {"c": {}}}, "d": "x"}';
  expect(parsePruned(text, 3)).toEqual(
    JSON.parse(
      `{"a": [1, [2, "${LEFT_OUT}"]], "b": {"__proto__": {"c": "${LEFT_OUT}"}}, "d": "x"}`,
    ),
  );
  expect(parsePruned(text, 4)).toEqual(JSON.parse(text));
  expect(JSON.stringify(parsePruned(nested(HUGE, '[', ']'), 2))).toBe(`[["${LEFT_OUT}"]]`);
});

it('JSON for people is indented as JSON.stringify does it while it is flat', () => {
  for (const value of [null, 'x', 7, [], {}, [[]], { a: [{ b: 'c"' }, null], d: {} }]) {
    expect(indentedJson(value)).toBe(JSON.stringify(value, null, 2));
  }
  expect(indentedJson({ a: undefined, b: 1 })).toBe(JSON.stringify({ b: 1 }, null, 2));
});

it('JSON for people does not grow with its depth', () => {
  const wide = JSON.parse(nested(maxDepth, '[', ']', '0'.concat(',0'.repeat(10_000))));
  expect(JSON.parse(indentedJson(wide))).toEqual(wide);
  expect(indentedJson(wide).length).toBeLessThan(JSON.stringify(wide).length + 1_000);
});

function nested(
  levels: number,
  open: string,
  close: string,
  inner = open === '[' ? '' : '1',
): string {
  return open.repeat(levels) + inner + close.repeat(levels);
}

function pathOf(text: string): unknown {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof JsonDepthError) return error.path;
  }
  return undefined;
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
