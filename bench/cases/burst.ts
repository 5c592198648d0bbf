/** (a) A whole answer at once: the cost of a token when nothing waits for the model. */
import { alternate } from '../alternate.ts';
import { startBare, startShape } from '../bare.ts';
import type { Figure } from '../figure.ts';
import { startHouse } from '../house.ts';
import { SCRIPTS } from '../scripts.ts';
import type { Ground, Side } from '../side.ts';
import { hear } from '../stamps.ts';
import { median } from '../statistics.ts';

/** V8 compiles the hot code within the first few rounds. */
const WARM_UPS = 5;
const ROUNDS = 15;

/**
 * Two ways of sending at once. Each token by itself, as model servers do: the upstream takes a part of the time. All
 * tokens in one write: the Worker and the client take all of the time.
 */
export async function measureBurst(ground: Ground): Promise<Figure[]> {
  await using bare = await startBare(ground);
  await using floor = await startShape(ground);
  await using ours = await startHouse(ground);
  const sides = { bare, floor, ours };
  const { tokens } = SCRIPTS.burst;
  return [
    {
      ...(await measureScript(sides, 'burst')),
      what: `${tokens} tokens at once, one by one, to the last byte`,
      peers: { aiChatAgent: '540 ms', opencode: '310 to 430 ms' },
    },
    {
      ...(await measureScript(sides, 'piece')),
      what: `${tokens} tokens at once, in one write, to the last byte`,
    },
  ];
}

async function measureScript(
  sides: { readonly bare: Side; readonly floor: Side; readonly ours: Side },
  script: 'burst' | 'piece',
) {
  const counts = { warmUps: WARM_UPS, rounds: ROUNDS };
  const times = await alternate(
    sides,
    counts,
    async (side) => (await hear(await side.open(), script)).totalMs,
  );
  return {
    unit: 'ms',
    bare: median(times.bare),
    floor: median(times.floor),
    ours: median(times.ours),
    target: { maxRatio: 3.5 },
  } as const;
}
