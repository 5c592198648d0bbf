import { expect, it } from 'vitest';
import type { FuzzRequest } from '../../bench/fuzz/requests.ts';
import { type Fault, fuzzWith, json, NOT_FOUND } from './scripted-fuzz.ts';

it('finds nothing wrong with an API that does what it says', async () => {
  const { violations, counts } = await fuzzWith(() => undefined);
  expect(violations).toEqual([]);
  expect(counts['readNote']?.['200']).toBeGreaterThan(10);
  expect(counts['readNote']?.['404']).toBeGreaterThan(10);
  expect(counts['writeNote']?.['200']).toBeGreaterThan(10);
  expect(counts['writeNote']?.['400']).toBeGreaterThan(10);
});

const CRASH = json(500, { error: { code: 'INTERNAL', message: '' } });
const STACK = json(404, { error: { code: 'NOT_FOUND', message: 'at read (/work/a.ts:3:1)' } });
const NOT_YOURS = json(404, { error: { code: 'NOT_FOUND', message: 'Not yours.' } });

it.each<[string, string, Fault]>([
  ['a crash', 'status 500', onOthers(CRASH)],
  ['a status of its own', 'status 418 is not in', onOthers({ ...NOT_FOUND, status: 418 })],
  ['a stack', 'it shows the insides', onOthers(STACK)],
  ['another form of error', 'required property "error"', onOthers(json(404, {}))],
  ['an error as text', 'an error as text/', onOthers({ ...NOT_FOUND, contentType: 'text/html' })],
  ['an answer cut short', 'it is not JSON', onOthers({ ...NOT_FOUND, text: '{"error":' })],
  ['a success of another form', '#/text Instance type', onOwn(json(200, { text: 1 }))],
  ['a good request refused', 'a good request got 404', onOwn(NOT_FOUND)],
  [
    'a difference between another account’s data and none',
    'ids that do not exist are answered otherwise',
    (_, sender, owner) => (owner !== undefined && owner !== sender ? NOT_YOURS : undefined),
  ],
  ['a request without an answer', 'no answer: Error: hangs', onOwnCall(() => hang())],
  ['changed data', 'the data of another account changed', changingData()],
])('finds %s', async (_, problem, fault) => {
  const { violations } = await fuzzWith(fault);
  const problems = violations.map((violation) => violation.problem);
  expect(problems).toContainEqual(expect.stringContaining(problem));
});

it('sends the same requests for the same seed, and others for another', async () => {
  const [first, second, other] = await Promise.all([7, 7, 8].map(requestsOf));
  expect(first).toEqual(second);
  expect(first).not.toEqual(other);
});

function onOthers(answer: ReturnType<typeof json>): Fault {
  return (_, sender, owner) => (owner !== undefined && owner !== sender ? answer : undefined);
}

function onOwn(answer: ReturnType<typeof json>): Fault {
  return onOwnCall(() => answer);
}

function onOwnCall(answer: () => ReturnType<typeof json>): Fault {
  return ({ method }, sender, owner) =>
    method === 'GET' && owner === sender ? answer() : undefined;
}

function hang(): never {
  throw new Error('hangs');
}

function changingData(): Fault {
  let reads = 0;
  return ({ path }) => (path === '/api/v1/conversations' ? json(200, reads++) : undefined);
}

async function requestsOf(seed: number): Promise<readonly FuzzRequest[]> {
  const sent: FuzzRequest[] = [];
  await fuzzWith(() => undefined, { seed, sent });
  return sent;
}
