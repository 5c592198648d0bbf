/** Measures all sides in turns, so that other work of the machine affects each of them. */

/** The results of the rounds by the name of the side, without the warm-up rounds. */
export type Rounds<Name extends string, Sample> = Readonly<Record<Name, readonly Sample[]>>;

/** Runs `measure` on one side after the other, in each round. Drops the first `warmUps` rounds. */
export async function alternate<Name extends string, Side, Sample>(
  sides: Readonly<Record<Name, Side>>,
  { warmUps, rounds }: { readonly warmUps: number; readonly rounds: number },
  measure: (side: Side) => Promise<Sample>,
): Promise<Rounds<Name, Sample>> {
  const names = Object.keys(sides) as Name[];
  const samples = new Map(names.map((name) => [name, [] as Sample[]]));
  for (let round = 0; round < warmUps + rounds; round++) {
    for (const name of names) samples.get(name)?.push(await measure(sides[name]));
  }
  const kept = names.map((name) => [name, samples.get(name)?.slice(warmUps) ?? []] as const);
  return Object.fromEntries(kept) as unknown as Rounds<Name, Sample>;
}
