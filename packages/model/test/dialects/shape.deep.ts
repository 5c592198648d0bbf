import { expect, it } from 'vitest';
import { deep } from '../../../../test/depth.ts';
import { refusedShapes } from './refused-shape.ts';

it('no strict template refuses what a conversation can come to', () => {
  const found = Array.from({ length: deep(1_000) }, (_, seed) => [seed, ...refusedShapes(seed)]);
  expect(found.filter(({ length }) => length > 1)).toEqual([]);
});
