/** What the edge learns of the bridge beside calls: its offered tools, its MCP servers, and whom its machine lets in. */
import type { OfferSet } from '../../shared/wire/offer.ts';
import type { BridgeFrame } from '../../shared/wire/tunnel.ts';

/** Frames that are sent unasked. No method throws. */
export interface Feed {
  /** A welcome came: `send` sends a frame now or not at all, until {@link lost}. */
  welcomed(send: (frame: BridgeFrame) => void): void;
  /** The connection was lost. */
  lost(): void;
}

/** Sends a digest of the offered tools in each hello, and the set on request or after a change. */
export class OfferFeed implements Feed {
  readonly #read: () => Promise<OfferSet | null>;
  #send: ((frame: BridgeFrame) => void) | null = null;
  /** Digest of the set that the edge knows; null for none. */
  #known: string | null = null;
  #sending: Promise<void> = Promise.resolve();

  /** `read` returns the present set. It does not reject. */
  constructor(read: () => Promise<OfferSet | null>) {
    this.#read = read;
  }

  /** The fields for a hello. */
  async introduce(): Promise<{ offers?: string }> {
    const digest = (await this.#read())?.digest;
    this.#known = digest ?? null;
    return digest === undefined ? {} : { offers: digest };
  }

  welcomed(send: (frame: BridgeFrame) => void): void {
    this.#send = send;
    this.update();
  }

  lost(): void {
    this.#send = null;
  }

  /** Sends the set if it has changed, or if the edge asks for it. One set after the other: the newest is sent last. */
  update({ isWanted = false } = {}): void {
    this.#sending = this.#sending.then(async () => {
      const set = await this.#read();
      const digest = set?.digest ?? null;
      if (!this.#send || (digest === this.#known && !isWanted)) return;
      this.#known = digest;
      this.#send({ type: 'offers', set });
    });
  }
}

/** Sends a report after each welcome, and after each change. */
export class ReportFeed implements Feed {
  readonly #read: () => BridgeFrame;
  #send: ((frame: BridgeFrame) => void) | null = null;
  /** What this connection has sent last, as JSON. */
  #sent: string | undefined;

  constructor(read: () => BridgeFrame) {
    this.#read = read;
  }

  welcomed(send: (frame: BridgeFrame) => void): void {
    this.#send = send;
    this.#sent = undefined;
    this.update();
  }

  lost(): void {
    this.#send = null;
  }

  /** Sends the report, if it has changed. */
  update(): void {
    if (!this.#send) return;
    const frame = this.#read();
    const text = JSON.stringify(frame);
    if (text === this.#sent) return;
    this.#sent = text;
    this.#send(frame);
  }
}
