/** Ends a turn early: at Ctrl-C, at SIGTERM, or when the reader of the output has left. */
import { ClientError } from '../../client/index.ts';
import { CLI_LIMITS } from '../limits.ts';
import { describeError } from '../terminal/failure-text.ts';
import type { EndSignal } from '../terminal/terminal.ts';
import type { Chat } from './chat.ts';

/** Why the chat left a turn early. */
export type Leaving = 'left' | 'terminated' | 'unread';

/** Ctrl-C cancels the run, a second one leaves at once, SIGTERM after `cancelMs`. Without a reader, it leaves. */
export class Interrupts {
  readonly #chat: Chat;
  readonly #onInterrupt: () => void;
  readonly #leave = new AbortController();
  readonly #endListening: () => void;
  #responseId: string | null = null;
  #leaving: Leaving | null = null;
  #cancelling: Promise<void> | null = null;

  /** Calls `onInterrupt` at every signal. */
  constructor(chat: Chat, onInterrupt: () => void) {
    this.#chat = chat;
    this.#onInterrupt = onInterrupt;
    this.#endListening = chat.terminal.onSignal((signal) => this.#interrupt(signal));
  }

  /** Aborts when the chat must leave the turn. */
  get signal(): AbortSignal {
    return this.#leave.signal;
  }

  /** Why the chat leaves the turn, set as soon as this is decided: the run may end before the chat has left. */
  get leaving(): Leaving | null {
    return this.#leaving;
  }

  /** Gives the signals their usual meaning again, and aborts a cancel request that is still open. */
  end(): void {
    this.#endListening();
    this.#leave.abort();
  }

  /** Names the response that a signal cancels. */
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
      this.#say('red', `The answer could not be cancelled: ${why}`);
    }
  }

  #say(style: 'red' | 'yellow', words: string): void {
    const { terminal } = this.#chat;
    terminal.write(`\n${terminal.paint(style, words)}\n`);
  }
}
