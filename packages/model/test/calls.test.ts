import { expect, it } from 'vitest';
import { finishCalls } from '../calls.ts';

/** Arguments as they came -> what they mean. They are sent back as they came. */
const SOUND: readonly (readonly [string, object])[] = [
  ['{"a":1}', { a: 1 }],
  [' {"a":1}\n', { a: 1 }],
  ['', {}],
  [' \n', {}],
  ['{"a":"\\ud83d\\ude00"}', { a: '😀' }],
  ['{"a":"\\ud83d","b":["\\udE00x"]}', { a: '\ufffd', b: ['\ufffdx'] }],
  ['{"a":"&lt;b&gt;"}', { a: '&lt;b&gt;' }],
];

/** Arguments as they came -> what they certainly mean, and how they are sent back. */
const REPAIRED: readonly (readonly [string, object, string])[] = [
  ['null', {}, '{}'],
  ['"{\\"a\\":1}"', { a: 1 }, '{"a":1}'],
  ['"{\\"a\\":\\"\\\\ud83d\\"}"', { a: '\ufffd' }, '{"a":"\ufffd"}'],
  ['{"a":1}{"a":1}', { a: 1 }, '{"a":1}'],
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
