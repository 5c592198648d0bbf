/** The turn of a request with a large body. */
import { turnOf } from '../account/heavy-work.ts';
import { HEAVY_LIMITS } from '../account/limits.ts';

/** Until it has come the body is not read on, so that its sender waits, too. */
export class BodyTurn implements Disposable {
  readonly #account: string;
  readonly #left: AbortSignal;
  #turn: Disposable | null = null;

  /** `left`: aborted when the sender leaves. */
  constructor(account: string, left: AbortSignal) {
    this.#account = account;
    this.#left = left;
  }

  get isHeld(): boolean {
    return this.#turn !== null;
  }

  /** Waits for the turn unless it is held. @throws like {@link turnOf} */
  async take(): Promise<void> {
    this.#turn ??= await turnOf(this.#account, this.#left);
  }

  /** The piece. A slow sender loses the turn meanwhile: other work of the account needs it more. */
  async until<Piece>(piece: Promise<Piece>): Promise<Piece> {
    if (!this.#turn) return await piece;
    const timer = setTimeout(() => this[Symbol.dispose](), HEAVY_LIMITS.slowMs);
    try {
      return await piece;
    } finally {
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    this.#turn?.[Symbol.dispose]();
    this.#turn = null;
  }
}
