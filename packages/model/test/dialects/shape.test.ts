import { expect, it } from 'vitest';
import { refusedShapes } from './refused-shape.ts';

it('no strict template refuses what a conversation can come to: 300 histories', () => {
  const found = Array.from({ length: 300 }, (_, seed) => [seed, ...refusedShapes(seed)]);
  expect(found.filter(({ length }) => length > 1)).toEqual([]);
});
