import { expect, it } from 'vitest';
import { CallAssembly, type CallDelta } from '../assembly.ts';

/** Title -> deltas, and the calls as `id name arguments`, with a dash for what never came. */
type Case = readonly [string, readonly CallDelta[], readonly string[]];

const _ = undefined;

const CASES: readonly Case[] = [
  ['an index joins fragments', [d(0, 'A', 'f', ''), d(0, _, _, '{'), d(0, _, _, '}')], ['A f {}']],
  [
    'the first index can be any number',
    [d(1, 'A', 'f', '{'), d(1, _, _, '}'), d(7, 'B', 'g', '{}')],
    ['A f {}', 'B g {}'],
  ],
  [
    'fragments of two calls can alternate',
    [d(0, 'A', 'f', '{"a'), d(1, 'B', 'g', '{"b'), d(0, _, _, '":1}'), d(1, _, _, '":2}')],
    ['A f {"a":1}', 'B g {"b":2}'],
  ],
  [
    'a new id at the same index is a new call',
    [d(0, 'A', 'f', '{"a":1}'), d(0, 'B', 'g', ''), d(0, _, _, '{"b":'), d(0, _, _, '2}')],
    ['A f {"a":1}', 'B g {"b":2}'],
  ],
  [
    'an id finds its call again at a shared index',
    [d(0, 'A', 'f', '{"a'), d(0, 'B', 'g', '{}'), d(0, 'A', _, '":1}')],
    ['A f {"a":1}', 'B g {}'],
  ],
  [
    'an id finds its call without an index',
    [d(_, 'A', 'f', '{'), d(_, 'B', 'g', '{}'), d(_, 'A', 'f', '}')],
    ['A f {}', 'B g {}'],
  ],
  [
    'the same id at another index is another call',
    [d(0, 'A', 'f', '{}'), d(1, 'A', 'g', '{'), d(1, _, _, '}')],
    ['A f {}', 'A g {}'],
  ],
  [
    'an id and a name in every delta name one call',
    [d(0, 'A', 'f', '{"a'), d(0, 'A', 'f', '":1'), d(0, 'A', 'f', '}')],
    ['A f {"a":1}'],
  ],
  [
    'without an index or an id, what has no name goes on with the latest call',
    [d(_, _, 'f', '{'), d(_, _, _, '}')],
    ['- f {}'],
  ],
  [
    'without an index or an id, every name is a call',
    [d(_, _, 'f', '{}'), d(_, _, 'f', '{}')],
    ['- f {}', '- f {}'],
  ],
  [
    'an unknown index without a name goes on with the latest call',
    [d(0, 'A', 'f', '{"a'), d(1, _, _, '":1'), d(1, _, _, '}'), d(1, 'B', 'g', '{}')],
    ['A f {"a":1}', 'B g {}'],
  ],
  ['a name can come after the arguments began', [d(0, 'A', _, '{'), d(0, _, 'f', '}')], ['A f {}']],
  ['an id can come after the name', [d(0, _, 'f', '{'), d(0, 'A', _, '}')], ['A f {}']],
  [
    'the first of anything may be nothing but arguments',
    [d(_, _, _, '{'), d(_, _, _, '}')],
    ['- - {}'],
  ],
  [
    'without ids, a second whole call at an index is another one',
    [d(0, _, 'f', '{"a":1}'), d(0, _, 'f', '{"a":2}'), d(0, _, 'g', '{"a":2}')],
    ['- f {"a":1}', '- f {"a":2}', '- g {"a":2}'],
  ],
  [
    'without ids, a repeated name with a fragment goes on',
    [d(0, _, 'f', '{"a":'), d(0, _, 'f', '{}'), d(0, _, 'f', '}')],
    ['- f {"a":{}}'],
  ],
  ['arguments can be an object', [d(0, 'A', 'f', { a: 1 })], ['A f {"a":1}']],
];

it.each(CASES)('%s', (_, deltas, calls) => {
  const assembly = new CallAssembly();
  for (const one of deltas) assembly.push(one);
  assembly.end();
  const gathered = assembly.calls.map(
    ({ id = '-', name = '-', rawArguments }) => `${id} ${name} ${rawArguments}`,
  );
  expect(gathered).toEqual(calls);
});

it('shows a name once, and only what is new', () => {
  const assembly = new CallAssembly();
  expect([
    assembly.push(d(0, 'A', _, '{')),
    assembly.push(d(0, 'A', 'f', '')),
    assembly.push(d(0, 'A', 'f', '"')),
    assembly.push(d(0, 'A', 'f', '')),
    assembly.push(d(1, 'B', 'g', _)),
    assembly.push(d(1, 'B', 'g', '\ud83d')),
    assembly.end(),
  ]).toEqual([
    { call: 0, arguments: '{' },
    { call: 0, name: 'f' },
    { call: 0, arguments: '"' },
    null,
    { call: 1, name: 'g' },
    null,
    [{ call: 1, arguments: '\ufffd' }],
  ]);
});

it('merges unknown fields of all deltas', () => {
  const assembly = new CallAssembly();
  assembly.push({ id: 'A', name: 'f', extra: { a: 1, b: 1 } });
  assembly.push({ id: 'A', extra: { b: 2 } });
  expect(assembly.calls[0]?.extra).toEqual({ a: 1, b: 2 });
});

function d(
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args: CallDelta['arguments'],
): CallDelta {
  return { index, id, name, arguments: args };
}

it('costs no more than what comes, whatever it is', () => {
  const assembly = new CallAssembly();
  for (let count = 0; count < 100_000; count++) {
    assembly.push({ index: 0, name: 'f', arguments: '{}' });
  }
  expect(assembly.calls).toHaveLength(1);
});
