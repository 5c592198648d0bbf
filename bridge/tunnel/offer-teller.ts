/** Tells the edge which tools this bridge offers: a digest in each hello, the set on request or after a change. */
import type { OfferSet } from '../../shared/wire/offer.ts';
import { type BridgeFrame, OFFERS_FEATURE } from '../../shared/wire/tunnel.ts';

/** Knows which set the edge was told last. */
export class OfferTeller {
  readonly #read: () => Promise<OfferSet | null>;
  #send: ((frame: BridgeFrame) => void) | null = null;
  /** Digest of the set that the edge knows; null for none. */
  #told: string | null = null;
  #telling: Promise<void> = Promise.resolve();

  /** `read` returns the present set. It does not reject. */
  constructor(read: () => Promise<OfferSet | null>) {
    this.#read = read;
  }

  /** The fields for a hello. */
  async introduce(): Promise<{ offers?: string }> {
    const digest = (await this.#read())?.digest;
    this.#told = digest ?? null;
    return digest === undefined ? {} : { offers: digest };
  }

  /** A welcome came. From now on the edge is told of changes, if it supports offers. */
  welcomed(features: readonly string[], send: (frame: BridgeFrame) => void): void {
    this.#send = features.includes(OFFERS_FEATURE) ? send : null;
    this.changed();
  }

  /** The connection was lost. */
  lost(): void {
    this.#send = null;
  }

  /** The edge asks for the set. */
  wanted(): void {
    this.#tell(true);
  }

  /** The offered set may have changed. */
  changed(): void {
    this.#tell(false);
  }

  /** Sends one set after the other, so that the newest set is sent last. */
  #tell(isWanted: boolean): void {
    this.#telling = this.#telling.then(async () => {
      const set = await this.#read();
      const digest = set?.digest ?? null;
      if (!this.#send || (digest === this.#told && !isWanted)) return;
      this.#told = digest;
      this.#send({ type: 'offers', set });
    });
  }
}
