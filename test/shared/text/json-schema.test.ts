import { describe, expect, it } from 'vitest';
import { schemaCheck, UnusableSchema } from '../../../shared/text/json-schema.ts';

const text = { type: 'string' };

describe('a check by a JSON Schema', () => {
  it.each([
    ['a missing field', { required: ['a'] }, {}],
    ['an unknown field', { properties: { a: text }, additionalProperties: false }, { b: 1 }],
    ['a value of no choice', { properties: { a: { enum: ['x', 'y'] } } }, { a: 'z' }],
    ['no address', { properties: { a: { type: 'string', format: 'email' } } }, { a: 'nobody' }],
    ['a deep value', { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: text } }, { a: 1 }],
  ])('finds %s', (_, schema, value) => {
    expect(schemaCheck({ type: 'object', ...schema })(value)).toMatch(/^#/);
  });

  it.each([
    ['a fitting value', { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: text } }],
    ['what only a pattern would refuse', { properties: { a: { type: 'string', pattern: '^b$' } } }],
    [
      'names that only a pattern allows',
      { patternProperties: { '^a$': text }, additionalProperties: false },
    ],
    ['properties named as keywords', { properties: { a: text, pattern: text, $ref: text } }],
  ])('takes %s', (_, schema) => {
    expect(schemaCheck({ type: 'object', ...schema })({ a: 'a' })).toBeNull();
  });

  it('takes a list of ten thousand entries', () => {
    const check = schemaCheck({
      type: 'array',
      items: { type: 'object', properties: { a: text } },
    });
    const list = Array.from({ length: 10_000 }, () => ({ a: 'a' }));
    expect(check(list)).toBeNull();
    expect(check([...list, { a: 1 }])).toBe(
      '#/10000/a: Instance type "number" is invalid. Expected "string".',
    );
  });

  it.each([
    ['leads to itself', { $ref: '#' }],
    ['leads nowhere', { $ref: '#/$defs/none' }],
    ['doubles its work forty times', doubling(40)],
    ['has an id that is no address', { $id: 'http://[' }],
  ])('refuses a schema that %s', (_, schema) => {
    expect(() => schemaCheck(schema)({})).toThrow(UnusableSchema);
  });
});

function doubling(times: number): Record<string, unknown> {
  const $defs = Object.fromEntries(
    Array.from({ length: times }, (_, index) => {
      const next = { $ref: `#/$defs/s${index + 1}` };
      return [`s${index}`, { allOf: [next, next] }];
    }),
  );
  return { $ref: '#/$defs/s0', $defs: { ...$defs, [`s${times}`]: {} } };
}
