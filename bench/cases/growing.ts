/** (h) A long conversation: the time of its next turn, from memory and after a restart, and its memory. */
import { COUNTING_ENTRY, countRows } from '../counted-rows.ts';
import type { Figure } from '../figure.ts';
import { type House, startHouse } from '../house.ts';
import {
  type ByLength,
  COPIES,
  type Copies,
  forEachLength,
  makeCopies,
  medianTurn,
  restartWarm,
  takeTurn,
  takeTurns,
} from '../long-conversations.ts';
import type { Ground } from '../side.ts';
import { median } from '../statistics.ts';
import { measureOutgrown } from './outgrown.ts';

/** Lengths in exchanges; {@link SHORT} is the reference for longer ones. */
const LENGTHS = [10, 100, 1_000] as const;
type Length = (typeof LENGTHS)[number];
const SHORT: Length = 10;
const ROUNDS = 2;
const COUNTED_TURNS = 4;
const VIEWS = 5;

/** The request to the model contains the conversation, so its length always costs something. */
const MAX_GROWTH = 1.5;
/** A woken conversation is also read once as a whole. */
const MAX_WOKEN_GROWTH = 2;

export async function measureGrowing(ground: Ground): Promise<Figure[]> {
  return [...(await measureWithin(ground)), ...(await measureOutgrown(ground))];
}

/** Measures conversations that fit the model's window. */
async function measureWithin(ground: Ground): Promise<Figure[]> {
  await using house = await startHouse(ground, COUNTING_ENTRY);
  const copies = await makeCopies(house, LENGTHS);
  const rows = await measureRows(house, copies);
  await takeTurns(house, copies, LENGTHS, 1); // This may wake the conversations.
  const warm = await takeTurns(house, copies, LENGTHS, ROUNDS);
  const views = await measureViews(house, copies);
  await restartWarm(house);
  const cold = await takeTurns(house, copies, LENGTHS, 1);
  const grownMb = await measureMemory(house, copies);
  return LENGTHS.slice(1).flatMap((length) => {
    const figure = (what: string, unit: Figure['unit'], of: (at: Length) => number | null) => ({
      what: `${length} exchanges (bare: ${SHORT}): ${what}`,
      unit,
      bare: of(SHORT),
      ours: of(length),
    });
    const grown = { target: { maxRatio: MAX_GROWTH } };
    const woken = { target: { maxRatio: MAX_WOKEN_GROWTH } };
    const warmAt = (at: Length) => medianTurn(warm[at]);
    const coldAt = (at: Length) => medianTurn(cold[at]);
    return [
      { ...figure('rows of a turn', 'rows', (at) => rows[at]), target: { maxRatio: 1 } },
      { ...figure('a turn, first word', 'ms', (at) => warmAt(at).firstMs), ...grown },
      { ...figure('a turn, last byte', 'ms', (at) => warmAt(at).totalMs), ...grown },
      { ...figure('woken by a turn, first word', 'ms', (at) => coldAt(at).firstMs), ...woken },
      { ...figure('woken by a turn, last byte', 'ms', (at) => coldAt(at).totalMs), ...woken },
      figure('memory that it takes woken', 'MB', (at) => grownMb[at]),
      figure('GET of all of it', 'ms', (at) => views[at].ms),
      figure('the same', 'bytes', (at) => views[at].bytes),
    ];
  });
}

async function measureRows(house: House, copies: Copies<Length>) {
  return await forEachLength(LENGTHS, async (length) => {
    const [copy] = copies[length];
    const { rows } = await countRows(house, async () => {
      for (let turn = 0; turn < COUNTED_TURNS; turn++) await takeTurn(house, copy);
    });
    return rows / COUNTED_TURNS;
  });
}

/** MB for each conversation; null if the system does not say. */
async function measureMemory(
  house: House,
  copies: Copies<Length>,
): Promise<ByLength<Length, number | null>> {
  return await forEachLength(LENGTHS, async (length) => {
    await restartWarm(house);
    const before = await house.footprint();
    for (const copy of copies[length]) await takeTurn(house, copy);
    const after = await house.footprint();
    return before && after && (after.residentMb - before.residentMb) / COPIES;
  });
}

async function measureViews(house: House, copies: Copies<Length>) {
  return await forEachLength(LENGTHS, async (length) => {
    const path = `conversations/${copies[length][0]}`;
    const answers = [];
    while (answers.length < VIEWS) answers.push(await (await house.request(path)).ended);
    return {
      ms: median(answers.map(({ totalMs }) => totalMs)),
      bytes: median(answers.map(({ bytes }) => bytes)),
    };
  });
}
