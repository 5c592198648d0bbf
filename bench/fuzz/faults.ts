/** Faults of a value, and of the text that carries it. */
import type { Schema } from './description.ts';
import type { Random } from './random.ts';
import type { Place } from './sample.ts';

/** Texts that often break programs. */
export const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  'a\u0000b',
  '\ud800',
  'a\udc00\ud800z',
  '\u202eevil\u202c',
  '𝄞'.repeat(60),
  'e\u0301'.repeat(40),
  '\ufeff',
  '\r\n\r\nevent: done\ndata: {}\n\n',
  '../../../etc/passwd',
  '%2e%2e%2f',
  '__proto__',
  'constructor',
  'toString',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '{{7*7}}',
  'NaN',
  '1e999',
  'null',
  'x'.repeat(5_000),
];

const ODD_NUMBERS: readonly number[] = [
  -1,
  0,
  0.5,
  -0.1,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  5e-324,
];

const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  [],
  {},
  [null],
  [[]],
  { a: 1 },
  { toString: 'x', constructor: { prototype: null } },
  nest(60),
];

/** A value for this place that its schema usually does not allow; undefined removes the value. */
export function faultAt({ schema }: Place, value: unknown, random: Random): unknown {
  const faults = [
    () => undefined,
    () => random.pick(ODD_VALUES),
    () => random.pick(ODD_NUMBERS),
    () => random.pick(ODD_TEXTS),
    ...boundsOf(schema, value),
  ];
  return random.pick(faults)();
}

/** Values at the schema's bounds, and one beyond each bound. */
function boundsOf(schema: Schema, value: unknown): (() => unknown)[] {
  const { maxLength, maxItems, minimum, maximum, pattern } = schema;
  const faults: (() => unknown)[] = [];
  if (schema.enum ?? schema.const) faults.push(() => 'nonsense');
  if (pattern !== undefined)
    faults.push(
      () => `${value}x`,
      () => String(value).toUpperCase(),
    );
  if (maxLength !== undefined) {
    faults.push(
      () => 'y'.repeat(maxLength),
      () => 'y'.repeat(maxLength + 1),
    );
  }
  if (maxItems !== undefined && Array.isArray(value)) {
    faults.push(() => Array.from({ length: maxItems + 1 }, () => value[0] ?? 'z'));
  }
  if (minimum !== undefined) faults.push(() => minimum - 1);
  if (maximum !== undefined) faults.push(() => maximum + 1);
  return faults;
}

/** A copy with another value at the path; undefined removes the member. */
export function withFault(value: unknown, path: Place['path'], fault: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return fault;
  if (Array.isArray(value)) {
    return value.map((item, index) => (index === name ? withFault(item, rest, fault) : item));
  }
  const members = Object.entries(Object(value)).map(([key, member]) => [
    key,
    key === name ? withFault(member, rest, fault) : member,
  ]);
  return Object.fromEntries(members);
}

/** Ways to spoil the text of a JSON body. */
export const SPOILED: readonly ((json: string, random: Random) => string | Uint8Array)[] = [
  (json, random) => json.slice(0, random.below(json.length)),
  () => '',
  (json) => `${json}${json}`,
  (json) => json.replace(/\}$/, ',}'),
  (json) => `\ufeff${json}`,
  (json) => json.replaceAll('"', "'"),
  (json) => `${json}\u0000`,
  () => 'NaN',
  () => '['.repeat(50_000),
  () => `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  () => `${'{"messages":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  (json) => json.replace(/^\{/, '{"messages":[],"decision":7,"title":[],"messages":null,'),
  (json) => json.replace(/^\{/, '{"__proto__":{"stream":true,"isAdmin":true},'),
  (json) => json.replace(/^\{/, '{"constructor":{"prototype":{"stream":true}},'),
  (json) => json.replace(/^\{/, '{"unknown":{"a":[1,2,{"b":null}]},'),
  () => new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
  () => `{"messages":[{"role":"user","content":"${'x'.repeat(2_000_000)}"}]}`,
];

function nest(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}
