/** What a person who has not written yet can write, above the empty composer of a new conversation. */
import { type Component, truncateToWidth } from '@earendil-works/pi-tui';
import { EXAMPLES } from '../../chat/message.ts';
import type { ChatSession } from '../../chat/session.ts';
import type { Paint } from '../../terminal/paint.ts';

/** Stands in the empty composer. */
export const PLACEHOLDER = 'Ask or tell it something; @ names a file, / lists commands';

/** Whether nothing was said yet. */
export function isUnsaid({ chat, unsent }: ChatSession): boolean {
  return chat.conversationId === undefined && unsent.length === 0;
}

export class Greeting implements Component {
  readonly #session: () => ChatSession;
  readonly #paint: Paint;
  /** How many examples were taken: each time the next one comes. */
  #taken = 0;

  constructor(session: () => ChatSession, paint: Paint) {
    this.#session = session;
    this.#paint = paint;
  }

  invalidate(): void {}

  /** The next example for the composer. */
  next(): string {
    return EXAMPLES[this.#taken++ % EXAMPLES.length] ?? '';
  }

  render(width: number): string[] {
    if (!isUnsaid(this.#session())) return [];
    const lines = ['For example (Tab writes one):', ...EXAMPLES.map((each) => `  ${each}`)];
    return lines.map((line) => this.#paint('dim', truncateToWidth(line, width, '…')));
  }
}
