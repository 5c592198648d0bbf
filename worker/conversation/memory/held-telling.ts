/** What the model was told last, so that for the next request only what is new is read, rendered and weighed. */

import type { Toolbox } from '../../../shared/tools/toolbox.ts';
import type { Window } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import { newestWindow, type Place, readTold, startOf } from './history.ts';
import { type Known, knownAfter } from './window/around.ts';
import { WINDOW_LIMITS } from './window/limits.ts';
import { hiddenChars, type ModelSize, roomOf, scaleOf } from './window/size.ts';
import {
  firstOf,
  type ToldHistory,
  type ToldPiece,
  weighPieces,
  withHead,
} from './window/telling.ts';
import type { ToldRun } from './window/transcript.ts';

/**
 * A run that asks has all its turns answered, and all before it have ended: a piece with a turn, or at the end of a run
 * before, never changes any more. Such pieces are held as long as the window is the same, and the model and the toolbox are such as are
 * told the same; a new instance makes them anew. Nothing is held of what lies before the window, nor of more than
 * WINDOW_LIMITS.maxHeldChars.
 */
export class HeldTelling {
  readonly #store: RunStore;
  #held: Held | null = null;

  constructor(store: RunStore) {
    this.#store = store;
  }

  /** The same as weighing the history read anew. `ordinal` is that of the run that asks. */
  tell(ordinal: number, size: ModelSize, toolbox: Toolbox): ToldHistory {
    const held = this.#heldFor(ordinal, size, toolbox);
    const { window, room } = held;
    const told = readTold(this.#store, window, held.next, ordinal);
    held.first ??= firstOf({ told });
    const fresh = weighPieces({ window, told, toolbox }, size, { room, known: held.known });
    const open = fresh.pop();
    for (const { messages, saidChars, chars, turn } of fresh) {
      held.pieces.push({ messages, saidChars, chars, turn });
      held.chars += chars + hiddenChars(messages);
    }
    if (open) {
      // The message of a run without a turn stands in the open piece, and is told again.
      const behind = open.piece.turns === 0 ? told.slice(0, -1) : told;
      held.known = knownAfter(behind, held.known, room);
      held.next = { run: open.piece.run.ordinal, turns: open.piece.turns };
    }
    this.#held = held.chars <= WINDOW_LIMITS.maxHeldChars ? held : null;
    const pieces = open ? [...held.pieces, open] : held.pieces;
    return withHead(pieces, { window, first: held.first, size, room });
  }

  /** What is held, if it still holds for this run and this model; else nothing yet. */
  #heldFor(ordinal: number, size: ModelSize, toolbox: Toolbox): Held {
    const held = this.#held;
    const isNewest = (held?.window?.number ?? 0) === this.#store.readWindowNumber();
    const window = held && isNewest ? held.window : newestWindow(this.#store);
    const room = roomOf(size, scaleOf(window));
    const { takesImages } = size;
    const isSame =
      held?.room === room && held.takesImages === takesImages && held.toolbox === toolbox;
    if (held && isNewest && isSame && held.next.run <= ordinal) return held;
    const nothing = { first: undefined, pieces: [], known: null, chars: 0 };
    return { window, room, takesImages, toolbox, next: startOf(window), ...nothing };
  }
}

interface Held {
  readonly window: Window | null;
  /** UTF-16 units: how long results may be hangs on it. */
  readonly room: number;
  readonly takesImages: boolean;
  readonly toolbox: Toolbox;
  /** The run in which the window begins. */
  first: ToldRun | undefined;
  /** What the model is told of the machine up to `next`. */
  known: Known;
  /** All from the window's start up to `next`. */
  readonly pieces: ToldPiece[];
  next: Place;
  /** UTF-16 units in memory. */
  chars: number;
}
