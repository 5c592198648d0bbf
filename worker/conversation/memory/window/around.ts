/**
 * What each message of a window tells of the machine and the editor. A pure function of the
 * runs' rows.
 */
import {
  overlaid,
  type Surroundings,
  surroundingsOf,
  tellSurroundings,
} from '../../../prompt/surroundings.ts';
import type { Told, ToldRun } from './transcript.ts';

/** What the model knows at some place of a window; null where nothing has been told yet. */
export type Known = Surroundings | null;

/** By the runs' ordinals. `known` is what was known before the first of them. */
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

/** What is known behind the messages of these runs. */
export function knownAfter(told: readonly Told[], known: Known, room: number): Known {
  return messagesIn(told).reduce<Known>(
    (before, run) => overlaid(before, around(run, room)),
    known,
  );
}

/** UTF-16 units that the message of a run takes at most where it is the first of a window. */
export function wholeChars(run: ToldRun, room: number): number {
  return tellSurroundings(around(run, room), null).join('\n\n').length;
}

/**
 * The message of a run in whose middle the window begins stands in the digest, which tells none
 * of this.
 */
function messagesIn(told: readonly Told[]): ToldRun[] {
  return told.filter(({ before }) => before === 0).map(({ run }) => run);
}

function around({ request, machine }: ToldRun, room: number): Surroundings {
  const { createdMs, context } = request;
  return surroundingsOf({ createdMs, context, machine: machine?.context ?? null }, room);
}
