/** The messages that no answer has yet, above the composer. */
import { type Component, truncateToWidth } from '@earendil-works/pi-tui';
import { textOf } from '../../../shared/api/requests.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { isOver } from '../../../shared/wire/fold.ts';
import type { ChatSession } from '../../chat/session.ts';
import type { Paint } from '../../terminal/paint.ts';
import { INPUT_LIMITS } from './limits.ts';

/** A message that waits, and for what. */
export interface PendingMessage {
  readonly text: string;
  readonly state: string;
  /** Whether it can be taken back. */
  readonly isFree: boolean;
}

/** In the order in which the answers get them. */
function pendingIn({ current, steering, queued, unsent }: ChatSession): PendingMessage[] {
  const steers = current && isOver(current.status) ? LEFT : STEERS;
  return [
    ...steering.map(({ content }) => ({ text: content, state: steers, isFree: false })),
    ...queued.map(({ content }) => ({ text: content, state: QUEUED, isFree: true })),
    ...unsent.map(({ content, why }) => {
      return { text: textOf(content), state: why === undefined ? SENDING : UNSENT, isFree: true };
    }),
  ];
}

const STEERS = 'goes into this answer at its next step';
/** The server keeps it: the next answer sends what a stopped one had no time for. */
const LEFT = 'not read; it goes with your next message';
const QUEUED = 'waits for its turn';
const SENDING = 'is being sent';
const UNSENT = 'is not sent yet';

export interface PendingListOptions {
  readonly session: () => ChatSession;
  readonly paint: Paint;
  /** Whether something stands in the composer. */
  readonly isWriting: () => boolean;
}

export class PendingList implements Component {
  readonly #options: PendingListOptions;

  constructor(options: PendingListOptions) {
    this.#options = options;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { paint, session } = this.#options;
    const all = pendingIn(session());
    const more = all.length - INPUT_LIMITS.maxListed;
    const lines = all.slice(-INPUT_LIMITS.maxListed).map(({ text, state }) => {
      // What it waits for is the news.
      const room = Math.max(Math.ceil(width / 3), width - state.length - 5);
      const words = truncateToWidth(printableLine(text, INPUT_LIMITS.maxLineChars), room, '…');
      return `${paint('cyan', '›')} ${words} ${paint('dim', `(${state})`)}`;
    });
    const before = more > 0 ? [paint('dim', `… and ${more} before`)] : [];
    const hints = this.#hints(all).map((hint) => paint('dim', hint));
    return [...before, ...lines, ...hints].map((line) => truncateToWidth(line, width, '…'));
  }

  #hints(all: readonly PendingMessage[]): string[] {
    const { session, isWriting } = this.#options;
    const { isBusy, chat } = session();
    // Without a conversation nothing can go into an answer: the messages are sent one after the other.
    const canSteer = isBusy && chat.conversationId !== undefined && isWriting();
    return [
      ...(all.some(({ isFree }) => isFree) ? [TAKE_BACK] : []),
      ...(canSteer ? ['Enter sends it into this answer, Tab behind it'] : []),
    ];
  }
}

const TAKE_BACK = 'Alt+Up takes the last back into the composer';
