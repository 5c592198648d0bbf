import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitsOf } from '../../../packages/model/test/splits.ts';
import { type ArgumentEvent, ArgumentReader } from '../../../worker/reply/arguments.ts';
import { fewOf } from '../../depth.ts';
import { expectEqual } from '../../expect-equal.ts';

/** What was read of each property; a string whose end did not come has `…` behind it. */
type Strings = readonly (readonly [name: string, value: string])[];

/** Title -> JSON text, and the top-level strings in it. */
const TEXTS: readonly (readonly [string, string, Strings])[] = [
  ['an empty object', '{}', []],
  [
    'strings',
    '{"a":"x","b":"y z"}',
    [
      ['a', 'x'],
      ['b', 'y z'],
    ],
  ],
  ['an empty string', '{"a":""}', [['a', '']]],
  [
    'white space between everything',
    ' {\n\t"a" : "x" ,\r\n "b":"y" } ',
    [
      ['a', 'x'],
      ['b', 'y'],
    ],
  ],
  [
    'every escape',
    String.raw`{"a":"\"\\\/\b\f\n\r\t\u0041\u00e9\u6F22\uD83D\uDE00"}`,
    [['a', '"\\/\b\f\n\r\tAé漢😀']],
  ],
  ['an escaped name', String.raw`{"\u0061\n":"x"}`, [['a\n', 'x']]],
  [
    'lone halves of a character',
    String.raw`{"a":"\ud83dx\ude00","b":"\ud83d"}`,
    [
      ['a', '\ufffdx\ufffd'],
      ['b', '\ufffd'],
    ],
  ],
  [
    'no strings but those at the top',
    '{"n":-1.5e3,"t":true,"z":null,"o":{"a":"}","b":["]",{"c":"\\""}]},"l":["x","y"],"s":"z"}',
    [['s', 'z']],
  ],
  [
    'only the first of two with one name',
    '{"a":"x","a":"y","b":"z"}',
    [
      ['a', 'x'],
      ['b', 'z'],
    ],
  ],
  [
    'what has come of a cut string',
    '{"a":"x","b":"y z',
    [
      ['a', 'x'],
      ['b', 'y z…'],
    ],
  ],
  ['nothing of a cut escape', String.raw`{"a":"x\u00`, [['a', 'x…']]],
  ['nothing behind the object', '{"a":"x"}{"b":"y"}', [['a', 'x']]],
  ['nothing behind a broken escape', String.raw`{"a":"x\q","b":"y"}`, [['a', 'x…']]],
  ['nothing behind a broken unit', String.raw`{"a":"x\u00g0","b":"y"}`, [['a', 'x…']]],
  ['nothing of an array', '["a","b"]', []],
  ['nothing of a string', '"{\\"a\\":\\"x\\"}"', []],
  ['nothing of words', 'Sure! {"a":"x"}', []],
  ['nothing behind a missing colon', '{"a" "x"}', []],
  ['nothing behind a missing comma', '{"a":"x" "b":"y"}', [['a', 'x']]],
  ['nothing of single quotes', "{'a':'x'}", []],
];

it.each(TEXTS)('reads %s', (_, text, strings) => {
  for (const pieces of splitsOf(text)) expectEqual(read(pieces), strings);
});

it('shows a string while it is written', () => {
  const reader = new ArgumentReader();
  const pieces = ['{"a":"he', 'l', 'lo\\', 'n', '\\ud83d', '\\ude00"', ',"b":1}'];
  expect(pieces.map((piece) => reader.push(piece))).toEqual([
    [delta('a', 'he')],
    [delta('a', 'l')],
    [delta('a', 'lo')],
    [delta('a', '\n')],
    [],
    [delta('a', '😀'), { type: 'end', name: 'a' }],
    [],
  ]);
});

it('agrees with JSON.parse on any object, however it is cut and escaped', () => {
  const text = fc.string({
    unit: fc.constantFrom(...'a"\\\n😀é/\u0001{},:]', '\ud83d'),
    maxLength: 5,
  });
  const values = [text, fc.constantFrom(1.5, null, true)];
  const value = fc.oneof(
    { arbitrary: text, weight: 3 },
    fc.anything({ key: text, values, maxKeys: 2 }),
  );
  const objects = fc.dictionary(text, value, { minKeys: 1, maxKeys: 4 });
  const isRead = fc.property(objects, fc.boolean(), (object, isEscaped) => {
    const json = isEscaped ? escapeAll(JSON.stringify(object, null, 1)) : JSON.stringify(object);
    const expected = Object.entries(object).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toWellFormed(), value.toWellFormed()]] : [],
    );
    for (const pieces of splitsOf(json)) expectEqual(read(pieces), expected, json);
  });
  fc.assert(isRead, { seed: 7, numRuns: fewOf(1_000, 200) });
});

it('says the same of broken JSON for every split', () => {
  const broken = fc.string({
    unit: fc.constantFrom(...'{{}}[]"":,\\\\u0041nax \n1'),
    maxLength: 12,
    size: 'max',
  });
  const isSame = fc.property(broken, (end) => {
    const [whole, ...others] = [...splitsOf(`{"a":"${end}`)].map(read);
    for (const other of others) expectEqual(other, whole);
  });
  fc.assert(isSame, { seed: 11, numRuns: fewOf(1_500, 300) });
});

/** Every character that can be one as `\uXXXX`. */
function escapeAll(json: string): string {
  return [...Array(json.length).keys()]
    .map((at) => json.charCodeAt(at))
    .map((unit) =>
      unit < 128 ? String.fromCharCode(unit) : `\\u${unit.toString(16).padStart(4, '0')}`,
    )
    .join('');
}

function delta(name: string, text: string): ArgumentEvent {
  return { type: 'delta', name, delta: text };
}

function read(pieces: readonly string[]): Strings {
  const reader = new ArgumentReader();
  const strings = new Map<string, string>();
  for (const event of pieces.flatMap((piece) => reader.push(piece))) {
    const value = strings.get(event.name)?.slice(0, -1) ?? '';
    strings.set(event.name, event.type === 'end' ? `${value}.` : `${value}${event.delta}…`);
  }
  return [...strings].map(([name, value]) => [
    name,
    value.endsWith('…') ? value : value.slice(0, -1),
  ]);
}
