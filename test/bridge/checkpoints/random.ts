/** Numbers that a seed decides. */
export function randomFrom(seed: number) {
  let state = seed * 2_654_435_761;
  const random = (below: number) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0;
    return (state >>> 8) % below;
  };
  const pick = <Value>(values: readonly Value[]) => values[random(values.length)] as Value;
  return { random, pick };
}
