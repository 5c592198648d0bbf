import { expect, test } from 'vitest';
import { type Ranked, type RankFacts, rank } from '../../../ide/discovery/rank.ts';

const KNOWN: RankFacts = {
  chosenPort: undefined,
  chosenPid: undefined,
  shellPorts: new Set(),
  ancestors: [30, 20, 10],
  isAlive: (pid) => pid < 100,
};

function candidate(source: string, more: Partial<Ranked> = {}): Ranked {
  return { family: 'gemini', source, port: 1, roots: ['/a'], changedMs: 0, rootChars: 2, ...more };
}

const BETTER: [string, Partial<Ranked>, Partial<Ranked>, Partial<RankFacts>?][] = [
  [
    'the chosen port',
    { port: 7 },
    { port: 8, pid: 30 },
    { chosenPort: 7, shellPorts: new Set([8]) },
  ],
  ['the chosen process', { pid: 500 }, { port: 8 }, { chosenPid: 500, shellPorts: new Set([8]) }],
  ['the port of this shell', { port: 8 }, { pid: 30 }, { shellPorts: new Set([8]) }],
  ['an ancestor', { pid: 10 }, { pid: 40, rootChars: 99 }],
  ['the nearer ancestor', { pid: 30 }, { pid: 10, rootChars: 99 }],
  ['the longer folder', { rootChars: 9 }, { pid: 40, changedMs: 9 }],
  ['named folders', {}, { roots: undefined, rootChars: 0, changedMs: 9 }],
  ['a living process', { pid: 40 }, { pid: 400, changedMs: 9 }],
  ['the newer file', { changedMs: 9 }, { changedMs: 8 }],
];

test.each(BETTER)('prefers %s', (_, better, worse, known = {}) => {
  const [one, other] = [candidate('better', better), candidate('worse', worse)];
  for (const order of [
    [one, other],
    [other, one],
  ]) {
    const ranked = rank(order, { ...KNOWN, ...known });
    expect(ranked.map(({ source }) => source)).toEqual(['better', 'worse']);
  }
});

test('leaves equals in their order', () => {
  const equals = ['a', 'b', 'c'].map((source) => candidate(source));
  expect(rank(equals, KNOWN)).toEqual(equals);
});
