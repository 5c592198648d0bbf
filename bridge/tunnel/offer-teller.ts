/** Tells the edge what this bridge offers: a digest in each hello, the set where it is wanted or has changed. */
import type { OfferSet } from '../../shared/offer.ts';
import { type BridgeFrame, OFFERS_FEATURE } from '../../shared/tunnel.ts';

/** Owns what the edge was told last. */
export class OfferTeller {
  readonly #read: () => Promise<OfferSet | null>;
  #send: ((frame: BridgeFrame) => void) | null = null;
  /** Of the set that the edge knows of; null for none. */
  #told: string | null = null;
  #telling: Promise<void> = Promise.resolve();

  /** `read` gives the set as it is now; it does not reject. */
  constructor(read: () => Promise<OfferSet | null>) {
    this.#read = read;
  }

  /** What goes into a hello. */
  async introduce(): Promise<{ offers?: string }> {
    const digest = (await this.#read())?.digest;
    this.#told = digest ?? null;
    return digest === undefined ? {} : { offers: digest };
  }

  /** A welcome came: from here on the edge is told of changes, if it knows of offers at all. */
  welcomed(features: readonly string[], send: (frame: BridgeFrame) => void): void {
    this.#send = features.includes(OFFERS_FEATURE) ? send : null;
    this.changed();
  }

  /** The connection is gone. */
  lost(): void {
    this.#send = null;
  }

  /** The edge asks for the set. */
  wanted(): void {
    this.#tell(true);
  }

  /** What is offered may be another set now. */
  changed(): void {
    this.#tell(false);
  }

  /** One after the other, so that the newest set is the last one told. */
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
