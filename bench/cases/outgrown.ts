/** (h) for a conversation far longer than the model's window: its length must not cost anything then. */
import type { Figure } from '../figure.ts';
import { startHouse } from '../house.ts';
import {
  COPIES,
  forEachLength,
  makeCopies,
  medianTurn,
  restartWarm,
  takeTurns,
} from '../long-conversations.ts';
import type { ScriptName } from '../scripts.ts';
import type { Ground } from '../side.ts';

const LENGTHS = [100, 1_000] as const;
type Length = (typeof LENGTHS)[number];
/** Tokens: some fifty exchanges. Their script also answers the requests for summaries. */
const CONTEXT_WINDOW = 4_000;
/** More rounds than turns between two summaries. */
const ROUNDS = 20;
/** Puts each copy at another place between two summaries. */
const STEP = 3;

/** Allows only timer noise. */
const MAX_GROWTH = 1.2;

export async function measureOutgrown(ground: Ground): Promise<Figure[]> {
  const model: { id: ScriptName; contextWindow: number } = {
    id: 'greeting',
    contextWindow: CONTEXT_WINDOW,
  };
  await using house = await startHouse(ground, undefined, { MODELS: JSON.stringify([model]) });
  const copies = await makeCopies(house, LENGTHS, STEP);
  await takeTurns(house, copies, LENGTHS, 1); // This may wake the conversations.
  const warm = await takeTurns(house, copies, LENGTHS, ROUNDS);
  await restartWarm(house);
  const cold = await takeTurns(house, copies, LENGTHS, 1);
  const summaries = await forEachLength(LENGTHS, async (length) => {
    return warm[length].filter(({ isSummarised }) => isSummarised).length;
  });
  if (LENGTHS.some((length) => summaries[length] === 0)) {
    throw new Error('A conversation has not outgrown its window.');
  }
  const [short, long] = LENGTHS;
  const figure = (what: string, of: (at: Length) => number) => ({
    what: `${long} exchanges, outgrown (bare: ${short}): ${what}`,
    bare: of(short),
    ours: of(long),
  });
  const inMs = { unit: 'ms', target: { maxRatio: MAX_GROWTH } } as const;
  return [
    { ...figure('a turn, first word', (at) => medianTurn(warm[at]).firstMs), ...inMs },
    { ...figure('a turn, last byte', (at) => medianTurn(warm[at]).totalMs), ...inMs },
    { ...figure('woken by a turn, first word', (at) => medianTurn(cold[at]).firstMs), ...inMs },
    { ...figure('woken by a turn, last byte', (at) => medianTurn(cold[at]).totalMs), ...inMs },
    {
      ...figure(`turns of ${ROUNDS * COPIES} with a summary`, (at) => summaries[at]),
      unit: 'events',
    },
  ];
}
