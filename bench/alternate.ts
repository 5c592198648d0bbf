/** Both sides measured in turns, so that whatever else the machine does meets both. */

/** What each round gave, without the rounds that only warmed up. */
export interface Rounds<Sample> {
  readonly bare: readonly Sample[];
  readonly ours: readonly Sample[];
}

/** Runs `measure` on one side, then the other, again and again; the first `warmUps` rounds are thrown away. */
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
