import { expect, it } from 'vitest';
import { nearestVectors, packed } from '../vectors.ts';

it('keeps the order of the nearest in a byte for each number', () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647 - 0.5;
  };
  const vector = () => Float32Array.from({ length: 384 }, random);
  const vectors = Array.from({ length: 2_000 }, vector);
  const question = vector();
  const page = vectors.map((numbers, id) => {
    const { scale, bytes } = packed(numbers);
    return { id, scale, numbers: bytes };
  });
  const exact = vectors
    .map((numbers, id) => ({ id, nearness: cosine(question, numbers) }))
    .sort((a, b) => b.nearness - a.nearness)
    .map(({ id }) => id);
  const found = [
    ...(nearestVectors(question, [page.slice(0, 900), page.slice(900)], 60_000) ?? []),
  ];
  expect(found).toHaveLength(2_000);
  expect(found.map(([, nearness]) => nearness)).toEqual(
    found.map(([, nearness]) => nearness).sort((a, b) => b - a),
  );
  expect([found[0]?.[1], found.at(-1)?.[1]]).toEqual([1, 0]);
  const best = new Set(exact.slice(0, 50));
  expect(found.slice(0, 50).filter(([id]) => best.has(id)).length).toBeGreaterThanOrEqual(47);
});

function cosine(a: Float32Array, b: Float32Array): number {
  const sum = (of: (at: number) => number) => a.reduce((all, _, at) => all + of(at), 0);
  const product = sum((at) => (a[at] ?? 0) * (b[at] ?? 0));
  const lengths = [sum((at) => (a[at] ?? 0) ** 2), sum((at) => (b[at] ?? 0) ** 2)];
  return product / lengths.reduce((all, length) => all * Math.sqrt(length), 1);
}

it('gives up once its time is over', () => {
  const { scale, bytes } = packed(Float32Array.of(1, 2));
  const page = [{ id: 1, scale, numbers: bytes }];
  expect(nearestVectors(Float32Array.of(1, 2), [page], -1)).toBeUndefined();
});
