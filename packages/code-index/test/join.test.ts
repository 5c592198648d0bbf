import { expect, it } from 'vitest';
import { joined } from '../join.ts';

/** Ids of chunks: the second of the file 1 is `chunk(1, 1)`. */
const chunk = (file: number, at: number) => file * 1_024 + at;

const order = (...args: Parameters<typeof joined>) => joined(...args).map(([id]) => id);

it('puts what both know first', () => {
  const words = [
    [chunk(1, 0), 10],
    [chunk(2, 0), 9],
  ] as const;
  const nearness = new Map([
    [chunk(3, 0), 1],
    [chunk(2, 0), 0.9],
  ]);
  expect(order(words, nearness)).toEqual([chunk(2, 0), chunk(1, 0), chunk(3, 0)]);
});

it('keeps the order of words where all are as near', () => {
  const words = [
    [chunk(1, 0), 10],
    [chunk(2, 0), 9],
    [chunk(3, 0), 1],
  ] as const;
  const nearness = new Map(words.map(([id]) => [id, 0.7]));
  expect(order(words, nearness)).toEqual(words.map(([id]) => id));
});

it('adds up what two chunks of one file are found by', () => {
  const words = [
    [chunk(1, 0), 10],
    [chunk(2, 0), 9],
  ] as const;
  const nearness = new Map([
    [chunk(2, 1), 1],
    [chunk(1, 0), 0.5],
  ]);
  expect(order(words, nearness)).toEqual([chunk(2, 0), chunk(1, 0), chunk(2, 1)]);
});

it('ranks by one of both alone', () => {
  const words = [[chunk(1, 0), 3]] as const;
  expect(order(words, new Map())).toEqual([chunk(1, 0)]);
  expect(order([], new Map([[chunk(1, 1), 0.2]]))).toEqual([chunk(1, 1)]);
});
