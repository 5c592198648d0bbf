import { expect, it } from 'vitest';
import { CallAssembly, type CallDelta } from '../../../worker/upstream/assembly.ts';

/** Title -> deltas, and the calls as `[id, name, arguments]`. */
type Case = readonly [
  string,
  readonly CallDelta[],
  readonly (readonly [string | undefined, string | undefined, string])[],
];

const CASES: readonly Case[] = [
  [
    'an index joins fragments',
    [
      delta(0, 'A', 'f', ''),
      delta(0, undefined, undefined, '{'),
      delta(0, undefined, undefined, '}'),
    ],
    [['A', 'f', '{}']],
  ],
  [
    'the first index can be any number',
    [delta(1, 'A', 'f', '{'), delta(1, undefined, undefined, '}'), delta(7, 'B', 'g', '{}')],
    [
      ['A', 'f', '{}'],
      ['B', 'g', '{}'],
    ],
  ],
  [
    'fragments of two calls can alternate',
    [
      delta(0, 'A', 'f', '{"a'),
      delta(1, 'B', 'g', '{"b'),
      delta(0, undefined, undefined, '":1}'),
      delta(1, undefined, undefined, '":2}'),
    ],
    [
      ['A', 'f', '{"a":1}'],
      ['B', 'g', '{"b":2}'],
    ],
  ],
  [
    'a new id at the same index is a new call',
    [
      delta(0, 'A', 'f', '{"a":1}'),
      delta(0, 'B', 'g', ''),
      delta(0, undefined, undefined, '{"b":'),
      delta(0, undefined, undefined, '2}'),
    ],
    [
      ['A', 'f', '{"a":1}'],
      ['B', 'g', '{"b":2}'],
    ],
  ],
  [
    'an id finds its call again at a shared index',
    [delta(0, 'A', 'f', '{"a'), delta(0, 'B', 'g', '{}'), delta(0, 'A', undefined, '":1}')],
    [
      ['A', 'f', '{"a":1}'],
      ['B', 'g', '{}'],
    ],
  ],
  [
    'an id finds its call without an index',
    [
      delta(undefined, 'A', 'f', '{'),
      delta(undefined, 'B', 'g', '{}'),
      delta(undefined, 'A', 'f', '}'),
    ],
    [
      ['A', 'f', '{}'],
      ['B', 'g', '{}'],
    ],
  ],
  [
    'the same id at another index is another call',
    [delta(0, 'A', 'f', '{}'), delta(1, 'A', 'g', '{'), delta(1, undefined, undefined, '}')],
    [
      ['A', 'f', '{}'],
      ['A', 'g', '{}'],
    ],
  ],
  [
    'an id and a name in every delta name one call',
    [delta(0, 'A', 'f', '{"a'), delta(0, 'A', 'f', '":1'), delta(0, 'A', 'f', '}')],
    [['A', 'f', '{"a":1}']],
  ],
  [
    'without an index or an id, what has no name goes on with the latest call',
    [delta(undefined, undefined, 'f', '{'), delta(undefined, undefined, undefined, '}')],
    [[undefined, 'f', '{}']],
  ],
  [
    'without an index or an id, every name is a call',
    [delta(undefined, undefined, 'f', '{}'), delta(undefined, undefined, 'f', '{}')],
    [
      [undefined, 'f', '{}'],
      [undefined, 'f', '{}'],
    ],
  ],
  [
    'an unknown index without a name goes on with the latest call',
    [
      delta(0, 'A', 'f', '{"a'),
      delta(1, undefined, undefined, '":1'),
      delta(1, undefined, undefined, '}'),
      delta(1, 'B', 'g', '{}'),
    ],
    [
      ['A', 'f', '{"a":1}'],
      ['B', 'g', '{}'],
    ],
  ],
  [
    'a name can come after the arguments began',
    [delta(0, 'A', undefined, '{'), delta(0, undefined, 'f', '}')],
    [['A', 'f', '{}']],
  ],
  [
    'an id can come after the name',
    [delta(0, undefined, 'f', '{'), delta(0, 'A', undefined, '}')],
    [['A', 'f', '{}']],
  ],
  [
    'the first of anything may be nothing but arguments',
    [delta(undefined, undefined, undefined, '{'), delta(undefined, undefined, undefined, '}')],
    [[undefined, undefined, '{}']],
  ],
  [
    'without ids, a second whole call at an index is another one',
    [
      delta(0, undefined, 'f', '{"a":1}'),
      delta(0, undefined, 'f', '{"a":2}'),
      delta(0, undefined, 'g', '{"a":2}'),
    ],
    [
      [undefined, 'f', '{"a":1}'],
      [undefined, 'f', '{"a":2}'],
      [undefined, 'g', '{"a":2}'],
    ],
  ],
  [
    'without ids, a repeated name with a fragment goes on',
    [
      delta(0, undefined, 'f', '{"a":'),
      delta(0, undefined, 'f', '{}'),
      delta(0, undefined, 'f', '}'),
    ],
    [[undefined, 'f', '{"a":{}}']],
  ],
  ['arguments can be an object', [delta(0, 'A', 'f', { a: 1 })], [['A', 'f', '{"a":1}']]],
];

it.each(CASES)('%s', (_, deltas, calls) => {
  const assembly = new CallAssembly();
  for (const one of deltas) assembly.push(one);
  assembly.end();
  const gathered = assembly.calls.map(({ id, name, rawArguments }) => [id, name, rawArguments]);
  expect(gathered).toEqual(calls);
});

it('shows a name once, and only what is new', () => {
  const assembly = new CallAssembly();
  expect([
    assembly.push(delta(0, 'A', undefined, '{')),
    assembly.push(delta(0, 'A', 'f', '')),
    assembly.push(delta(0, 'A', 'f', '"')),
    assembly.push(delta(0, 'A', 'f', '')),
    assembly.push(delta(1, 'B', 'g', undefined)),
    assembly.push(delta(1, 'B', 'g', '\ud83d')),
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

function delta(
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
