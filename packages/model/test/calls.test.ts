import { expect, it } from 'vitest';
import { finishCalls } from '../calls.ts';

/** Arguments as they came -> what they mean. They are sent back as they came. */
const SOUND: readonly (readonly [string, object])[] = [
  ['{"a":1}', { a: 1 }],
  [' {"a":1}\n', { a: 1 }],
  ['', {}],
  [' \n', {}],
  ['{"a":"\\ud83d\\ude00"}', { a: '😀' }],
  ['{"a":"&lt;b&gt;"}', { a: '&lt;b&gt;' }],
];

/** Arguments as they came -> what they certainly mean, and how they are sent back. */
const REPAIRED: readonly (readonly [string, object, string])[] = [
  ['null', {}, '{}'],
  ['"{\\"a\\":1}"', { a: 1 }, '{"a":1}'],
  ['{"a":1}{"a":1}', { a: 1 }, '{"a":1}'],
];

/** Arguments with half of a character -> what is sent back, and where it is. */
const HALF: readonly (readonly [string, object, string])[] = [
  ['{"b":1,"a":"\\ud83d"}', { b: 1, a: '\ufffd' }, 'a'],
  ['{"a":"\\ud83d\\ude00","b":["\\udE00x"]}', { a: '😀', b: ['\ufffdx'] }, 'b'],
  ['{"c":{"\\ud83d":1}}', { c: { '\ufffd': 1 } }, 'c'],
  ['"{\\"a\\":\\"\\\\ud83d\\"}"', { a: '\ufffd' }, 'a'],
];

const BROKEN: readonly string[] = [
  '{"a":1}{"a":2}',
  '{"a":1}{"a":1}{"a":1}',
  '{"a":',
  "{'a': 1}",
  '[1]',
  '7',
  '"text"',
  '"\\"{}\\""',
  '{"a":1} and more',
];

it.each(SOUND)('takes the arguments %j as they are', (raw, args) => {
  expect(finish(raw)).toEqual({ ...CALL, rawArguments: raw, arguments: args, mayExecute: true });
});

it.each(REPAIRED)('repairs the arguments %j', (raw, args, sentBack) => {
  expect(finish(raw)).toEqual({
    ...CALL,
    rawArguments: sentBack,
    arguments: args,
    mayExecute: true,
  });
});

it.each(HALF)('does not write half of a character: %j', (raw, args, where) => {
  expect(finish(raw)).toEqual({
    ...CALL,
    rawArguments: JSON.stringify(args),
    arguments: args,
    mayExecute: false,
    problem: expect.stringContaining(`Not run: \`${where}\` has half of a character`),
  });
});

it.each(BROKEN)('does not run with the arguments %j', (raw) => {
  expect(finish(raw)).toEqual({
    ...CALL,
    rawArguments: raw,
    arguments: null,
    mayExecute: false,
    problem: 'Not run: the arguments are not one whole JSON object.',
  });
});

const CALL = { id: 'c', name: 'f' };

function finish(rawArguments: string): object | undefined {
  return finishCalls([{ ...CALL, rawArguments, extra: undefined }], 'completed', () => '')[0];
}
