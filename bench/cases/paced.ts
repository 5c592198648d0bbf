/** (b) An answer at a model's pace: the time added to each token. */
import { alternate } from '../alternate.ts';
import { startBare, startShape } from '../bare.ts';
import type { Figure } from '../figure.ts';
import { startHouse } from '../house.ts';
import { SCRIPTS } from '../scripts.ts';
import type { Ground } from '../side.ts';
import { hear } from '../stamps.ts';
import { median, percentile } from '../statistics.ts';

const WARM_UPS = 1;
const ROUNDS = 3;

export async function measurePaced(ground: Ground): Promise<Figure[]> {
  await using bare = await startBare(ground);
  await using floor = await startShape(ground);
  await using ours = await startHouse(ground);
  const rounds = await alternate(
    { bare, floor, ours },
    { warmUps: WARM_UPS, rounds: ROUNDS },
    async (side) => (await hear(await side.open(), 'paced')).agesMs,
  );
  const ages = {
    bare: rounds.bare.flat(),
    floor: rounds.floor.flat(),
    ours: rounds.ours.flat(),
  };
  const { tokens, everyMs } = SCRIPTS.paced;
  return [
    {
      what: `${tokens} tokens ${everyMs} ms apart, added to each: median`,
      unit: 'ms',
      bare: median(ages.bare),
      floor: median(ages.floor),
      ours: median(ages.ours),
      target: { maxRatio: 2 },
      peers: { aiChatAgent: '1.1 ms', opencode: '3 to 5 ms' },
    },
    {
      what: 'the same: p95',
      unit: 'ms',
      bare: percentile(ages.bare, 0.95),
      floor: percentile(ages.floor, 0.95),
      ours: percentile(ages.ours, 0.95),
    },
  ];
}
