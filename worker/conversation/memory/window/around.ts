/** What each message of a window tells of the machine and the editor. A pure function of the runs' rows. */
import {
  overlaid,
  type Surroundings,
  surroundingsOf,
  tellSurroundings,
} from '../../../prompt/surroundings.ts';
import type { Told, ToldRun } from './transcript.ts';

/** What the model has been told of the machine and the editor at some place; null where it has been told nothing. */
export type Known = Surroundings | null;

/** The texts by the runs' ordinals. `known` is what the model was told before the first of these runs. */
export function aroundOf(
  told: readonly Told[],
  known: Known,
  room: number,
): ReadonlyMap<number, readonly string[]> {
  let before = known;
  const parts = messagesIn(told).map((run): [number, string[]] => {
    const now = around(run, room);
    const tells = tellSurroundings(now, before);
    before = overlaid(before, now);
    return [run.ordinal, tells];
  });
  return new Map(parts);
}

/** What the model has been told after the messages of these runs. */
export function knownAfter(told: readonly Told[], known: Known, room: number): Known {
  return messagesIn(told).reduce<Known>(
    (before, run) => overlaid(before, around(run, room)),
    known,
  );
}

/** The UTF-16 units of the full text, which a run's message tells where it is the first of a window. */
export function wholeChars(run: ToldRun, room: number): number {
  return tellSurroundings(around(run, room), null).join('\n\n').length;
}

/**
 * The runs whose messages are told word for word. Where a window begins in the middle of a run, the digest has the
 * run's message, and counts as telling nothing of the surroundings.
 */
function messagesIn(told: readonly Told[]): ToldRun[] {
  return told.filter(({ before }) => before === 0).map(({ run }) => run);
}

function around({ request, machine }: ToldRun, room: number): Surroundings {
  const { createdMs, context } = request;
  return surroundingsOf({ createdMs, context, machine: machine?.context ?? null }, room);
}
