import { expect, it } from 'vitest';
import { faultOfHeaders } from '../../transport/header-rule.ts';

const text = (header: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': header });
const of = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

it.each([
  ['no header at all', of({ a: { type: 'object' } })],
  ['names of headers', of({ a: text('Region'), b: text('Priority', 'integer') })],
  ['a parameter in a parameter', of({ a: of({ b: text('Deep', 'boolean') }) })],
  ['a parameter of that name', of({ 'x-mcp-header': { type: 'array' } })],
  ['the words in a value', of({ a: { type: 'object', default: text('') } })],
])('%s are right', (_, schema) => {
  expect(faultOfHeaders(schema)).toBeNull();
});

it.each([
  ['an empty name', of({ a: text('') })],
  ['a name with a space', of({ a: text('My Region') })],
  ['a name with a colon', of({ a: text('Region:Primary') })],
  ['a name beyond ASCII', of({ a: text('Région') })],
  ['a name with a line break', of({ a: text('Region\n') })],
  ['a name that is no text', of({ a: text(7) })],
  ['a number', of({ a: text('Part', 'number') })],
  ['an object', of({ a: text('Part', 'object') })],
  ['one of two types', of({ a: text('Part', ['string', 'null']) })],
  ['no type', of({ a: { 'x-mcp-header': 'Part' } })],
  ['the same name twice', of({ a: text('Region'), b: of({ c: text('REGION') }) })],
  ['the arguments as a whole', { ...text('All'), properties: {} }],
  ['each item of a list', of({ a: { type: 'array', items: text('Item') } })],
  ['one of several forms', of({}, { oneOf: [of({ a: text('Form') })] })],
  ['a definition', of({}, { $defs: { named: text('Named') } })],
  ['any other parameter', of({}, { additionalProperties: text('Other') })],
])('a header for %s is wrong', (_, schema) => {
  expect(faultOfHeaders(schema)).toEqual(expect.any(String));
});

it('a schema of a hundred thousand levels ends nothing', () => {
  let schema: object = text('');
  for (let level = 0; level < 100_000; level++) schema = of({ a: schema });
  expect(faultOfHeaders(schema)).toBeNull();
});
