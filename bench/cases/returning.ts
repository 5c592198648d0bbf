/** (f) Coming back: the time and bytes until a client that was cut off, or that joins late, has the whole answer. */
import type { Figure } from '../figure.ts';
import { type House, startHouse } from '../house.ts';
import { comeBack, type Return, startAnswer } from '../returning-client.ts';
import { SCRIPTS } from '../scripts.ts';
import type { Ground } from '../side.ts';
import { median } from '../statistics.ts';

const ROUNDS = 15;
/** Tokens that the client had when it was cut off. */
const CUTS = [0, 500, 999];
/** Clients come back to an answer in progress at `fromToken`, and then every `everyTokens` tokens. */
const LIVE = { cuts: [0, 500], fromToken: 700, everyTokens: 20 } as const;
const { tokens: TOKENS } = SCRIPTS.steady;

export async function measureReturning(ground: Ground): Promise<Figure[]> {
  await using house = await startHouse(ground);
  return [...(await measureEnded(house)), ...(await measureLive(house))];
}

async function measureEnded(house: House): Promise<Figure[]> {
  const answer = await startAnswer(house, 'burst');
  await answer.ended;
  const returns = new Map<number | null, Return[]>();
  for (const cut of [...CUTS, null]) {
    const cursor = cut === null ? null : answer.cursorAt(cut);
    const backs: Return[] = [];
    while (backs.length < ROUNDS) backs.push(await comeBack(house, answer, cursor));
    returns.set(cut, backs);
  }
  const all = [...returns.values()].flat();
  return [
    {
      what: `an answer of ${TOKENS} tokens that is over: requests of a return, at most`,
      unit: 'requests',
      bare: null,
      target: { max: 1 },
      ours: Math.max(...all.map(({ requests }) => requests)),
    },
    ...CUTS.flatMap((cut) => figuresOf(`cut off at token ${cut}`, returns.get(cut) ?? [])),
    eventsFigure('who joins without a cursor gets', returns.get(null) ?? [], WHOLE_EVENTS),
  ];
}

/** The message, the response, its document, the whole text, and the two ends. */
const WHOLE_EVENTS = 6;

async function measureLive(house: House): Promise<Figure[]> {
  const answer = await startAnswer(house, 'steady');
  const returns: [number | null, Return[]][] = [...LIVE.cuts, null].map((cut) => [cut, []]);
  for (let token = LIVE.fromToken; token < TOKENS; token += LIVE.everyTokens) {
    await answer.has(token);
    for (const [cut, backs] of returns) {
      backs.push(await comeBack(house, answer, cut === null ? null : answer.cursorAt(cut)));
    }
  }
  await answer.ended;
  return returns.flatMap(([cut, backs]) =>
    cut === null
      ? eventsFigure('who joins without a cursor meanwhile gets', backs, WHOLE_EVENTS - 2)
      : figuresOf(`cut off at token ${cut}, back while it streams`, backs),
  );
}

function figuresOf(what: string, backs: readonly Return[]): Figure[] {
  const of = (field: 'ms' | 'events' | 'bytes' | 'neededBytes') =>
    median(backs.map((back) => back[field]));
  return [
    { what: `${what}: caught up in`, unit: 'ms', bare: null, ours: of('ms') },
    eventsFigure('the same: events', backs, 3),
    {
      what: 'the same: bytes (bare: what it lacked)',
      unit: 'bytes',
      bare: of('neededBytes'),
      ours: of('bytes'),
      target: { maxRatio: 1.1 },
    },
  ];
}

function eventsFigure(what: string, backs: readonly Return[], max: number): Figure {
  const ours = median(backs.map(({ events }) => events));
  return { what, unit: 'events', bare: null, ours, target: { max } };
}
