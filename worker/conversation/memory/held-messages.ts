/** Keeps the messages that the model saw last, so that the next request reads and weighs only new ones. */

import type { Toolbox } from '../../../shared/tools/toolbox.ts';
import type { Window } from '../store/rows.ts';
import type { RunStore } from '../store/run-statements.ts';
import { newestWindow, type RunPlace, readSaid, startOf, withoutDigest } from './history.ts';
import { type KnownAround, knownAtStart } from './window/around.ts';
import { WINDOW_LIMITS } from './window/limits.ts';
import {
  firstOf,
  type SentHistory,
  type SentPiece,
  weighPieces,
  withHead,
} from './window/messages.ts';
import { hiddenChars, type ModelSize, roomOf, scaleOf } from './window/size.ts';
import type { LeavingOut, ModelHistory, SentRun } from './window/transcript.ts';

/**
 * When a run asks, all its turns are answered and all earlier runs have finished. A piece with a turn, or at the end of an
 * earlier run, then never changes any more. This class holds these pieces while the window, the room, the support of
 * images, the words about modes, the toolbox and what is left out stay the same; a new instance makes them anew. It holds nothing from before the window, and at
 * most WINDOW_LIMITS.maxHeldChars.
 */
export class HeldMessages {
  readonly #store: RunStore;
  #held: HeldWindow | null = null;

  constructor(store: RunStore) {
    this.#store = store;
  }

  /** The same result as reading and weighing the whole history. `ordinal` is that of the run that asks. */
  messagesFor(
    ordinal: number,
    size: ModelSize,
    { toolbox, leftOut }: Pick<ModelHistory, 'toolbox' | 'leftOut'>,
  ): SentHistory {
    const held = this.#heldFor(ordinal, size, { toolbox, leftOut });
    const { window, room } = held;
    const sent = readSaid(this.#store, window, held.next, ordinal);
    held.first ??= firstOf({ sent });
    const fresh = weighPieces({ window, sent, toolbox, leftOut }, size, {
      room,
      known: held.known,
    });
    const open = fresh.pop();
    for (const { messages, saidChars, chars, turn } of fresh) {
      held.pieces.push({ messages, saidChars, chars, turn });
      held.chars += chars + hiddenChars(messages);
    }
    if (open) {
      // The open piece is sent again.
      held.known = open.known;
      held.next = { run: open.piece.run.ordinal, turns: open.piece.turns };
    }
    this.#held = held.chars <= WINDOW_LIMITS.maxHeldChars ? held : null;
    const pieces = open ? [...held.pieces, open] : held.pieces;
    return withHead(pieces, { window, first: held.first, size, room });
  }

  /** The held pieces, if they are valid for this run and this model; otherwise an empty holding. */
  #heldFor(
    ordinal: number,
    size: ModelSize,
    { toolbox, leftOut }: Pick<ModelHistory, 'toolbox' | 'leftOut'>,
  ): HeldWindow {
    const held = this.#held;
    const isNewest = (held?.window?.number ?? 0) === this.#store.readWindowNumber();
    const window =
      held && isNewest && held.leftOut.key === leftOut.key
        ? held.window
        : withoutDigest(newestWindow(this.#store), leftOut);
    const room = roomOf(size, scaleOf(window));
    const { takesImages, modeWords } = size;
    const isSame =
      held?.room === room &&
      held.takesImages === takesImages &&
      held.toolbox === toolbox &&
      held.leftOut.key === leftOut.key &&
      JSON.stringify(held.modeWords) === JSON.stringify(modeWords);
    if (held && isNewest && isSame && held.next.run <= ordinal) return held;
    const nothing = { first: undefined, pieces: [], known: knownAtStart(window), chars: 0 };
    const kept = { window, room, takesImages, modeWords, toolbox, leftOut };
    return { ...kept, next: startOf(window), ...nothing };
  }
}

interface HeldWindow {
  readonly window: Window | null;
  /** UTF-16 units, which bound the length of results. */
  readonly room: number;
  readonly takesImages: boolean;
  readonly modeWords: ModelSize['modeWords'];
  readonly toolbox: Toolbox;
  readonly leftOut: LeavingOut;
  /** The run in which the window begins. */
  first: SentRun | undefined;
  /** What the model knows of the machine, the editor and the rules before `next`. */
  known: KnownAround;
  /** All pieces from the window's start up to `next`. */
  readonly pieces: SentPiece[];
  next: RunPlace;
  /** UTF-16 units in memory. */
  chars: number;
}
