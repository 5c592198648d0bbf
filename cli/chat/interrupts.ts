/** What ends a turn before its answer does: Ctrl-C, SIGTERM, or a reader of the output who has left. */
import { ClientError } from '../../client/error.ts';
import { CLI_LIMITS } from '../limits.ts';
import { describeError } from '../terminal/failure-text.ts';
import type { EndSignal } from '../terminal/terminal.ts';
import type { Chat } from './chat.ts';

/** Why a turn was left. */
export type Leaving = 'left' | 'terminated' | 'unread';

/**
 * Ctrl-C cancels the run, and a second one leaves without waiting for it. SIGTERM cancels and leaves once that is
 * known. Without a reader there is nothing to wait for, and the run goes on.
 */
export class Interrupts {
  readonly #chat: Chat;
  readonly #onInterrupt: () => void;
  readonly #leave = new AbortController();
  readonly #endListening: () => void;
  #responseId: string | null = null;
  #leaving: Leaving | null = null;
  #cancelling: Promise<void> | null = null;

  /** `onInterrupt` is called at every signal. */
  constructor(chat: Chat, onInterrupt: () => void) {
    this.#chat = chat;
    this.#onInterrupt = onInterrupt;
    this.#endListening = chat.terminal.onSignal((signal) => this.#interrupt(signal));
  }

  /** Aborts when the turn is to be left. */
  get signal(): AbortSignal {
    return this.#leave.signal;
  }

  /** Why the turn is left, from the moment this is decided: its run may end before it is done. */
  get leaving(): Leaving | null {
    return this.#leaving;
  }

  /** Signals mean what they always do again, and there is nothing to cancel any more. */
  end(): void {
    this.#endListening();
    this.#leave.abort();
  }

  /** What there is to cancel. */
  learn(responseId: string): void {
    this.#responseId = responseId;
  }

  #interrupt(signal: EndSignal): void {
    this.#onInterrupt();
    switch (signal) {
      case 'SIGINT':
        if (this.#cancelling || this.#responseId === null) return this.#leaveOnce(null, 'left');
        this.#say('yellow', 'Cancelling; Ctrl-C again leaves at once.');
        this.#cancelling = this.#cancel(this.#responseId);
        return;
      case 'SIGTERM':
        if (this.#responseId !== null) this.#cancelling ??= this.#cancel(this.#responseId);
        setTimeout(() => this.#leave.abort(), CLI_LIMITS.cancelMs).unref();
        return this.#leaveOnce(this.#cancelling, 'terminated');
      case 'unread':
        return this.#leaveOnce(this.#cancelling, 'unread');
    }
  }

  #leaveOnce(cancelled: Promise<void> | null, why: Leaving): void {
    this.#leaving ??= why;
    if (cancelled) cancelled.then(() => this.#leave.abort());
    else this.#leave.abort();
  }

  /** Never rejects. */
  async #cancel(responseId: string): Promise<void> {
    try {
      await this.#chat.client.cancel(responseId, this.signal);
    } catch (error) {
      if (this.signal.aborted) return;
      this.#cancelling = null;
      const why = error instanceof ClientError ? describeError(error) : String(error);
      this.#say('red', `It could not be cancelled: ${why}`);
    }
  }

  #say(style: 'red' | 'yellow', words: string): void {
    const { terminal } = this.#chat;
    terminal.write(`\n${terminal.paint(style, words)}\n`);
  }
}
