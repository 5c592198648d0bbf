/** Measures both sides in turns, so that other work of the machine affects both. */

/** The results of the rounds, without the warm-up rounds. */
export interface Rounds<Sample> {
  readonly bare: readonly Sample[];
  readonly ours: readonly Sample[];
}

/** Runs `measure` on one side, then on the other, in each round. Drops the first `warmUps` rounds. */
export async function alternate<Side, Sample>(
  sides: { readonly bare: Side; readonly ours: Side },
  { warmUps, rounds }: { readonly warmUps: number; readonly rounds: number },
  measure: (side: Side) => Promise<Sample>,
): Promise<Rounds<Sample>> {
  const bare: Sample[] = [];
  const ours: Sample[] = [];
  for (let round = 0; round < warmUps + rounds; round++) {
    bare.push(await measure(sides.bare));
    ours.push(await measure(sides.ours));
  }
  return { bare: bare.slice(warmUps), ours: ours.slice(warmUps) };
}
