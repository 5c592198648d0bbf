/** Where the large images of a request wait: its conversation is not known before all of it is read. */
import { newConversationId } from '../../shared/ids.ts';
import { sha256 } from '../../shared/text/sha256.ts';
import { noteMaking } from '../conversation/fork/fork.ts';
import type { Env } from '../env.ts';
import { HELD_LIMITS } from '../images/limits.ts';
import { type HeldImage, markerOf } from '../images/marker.ts';
import type { ImageHolder } from '../images/take-out.ts';
import { unknownImage, type WaitingImages, type WaitingPlace } from '../images/waiting.ts';
import { conversationOf } from '../objects.ts';
import { reach } from '../reach.ts';

/** The request that images come with. */
export interface SpoolRequest {
  readonly account: string;
  /** Aborted when the sender leaves. */
  readonly left: AbortSignal;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/**
 * An object of its own, which becomes no conversation. It is made with the first piece, and given up when the request
 * is over, also where its sender leaves.
 */
export class ImageSpool implements ImageHolder, WaitingImages {
  chars = 0;
  readonly #env: Env;
  readonly #request: SpoolRequest;
  readonly #conversationId = newConversationId(crypto.randomUUID());
  readonly #markers = new Set<string>();
  readonly #over = Promise.withResolvers<void>();
  #isMade = false;

  constructor(env: Env, request: SpoolRequest) {
    this.#env = env;
    this.#request = request;
  }

  get place(): WaitingPlace | undefined {
    return this.#isMade ? { id: this.#conversationId, markers: [...this.#markers] } : undefined;
  }

  /** @throws {DrawbridgeError} as {@link noteMaking}, and UNAVAILABLE. */
  async hold(piece: string): Promise<string> {
    const digest = await sha256(piece);
    if (!this.#isMade) {
      const { account, waitUntil } = this.#request;
      await noteMaking(this.#env, { account, conversationId: this.#conversationId });
      this.#isMade = true;
      waitUntil(this.#dropLater());
    }
    await reach(() => this.#object().holdImage(digest, piece));
    this.chars += piece.length;
    return digest;
  }

  mark(image: HeldImage): string {
    const marker = markerOf(image);
    this.#markers.add(marker);
    return marker;
  }

  async contentOf(image: HeldImage): Promise<string> {
    if (!this.#markers.has(markerOf(image))) throw unknownImage();
    const pieces: string[] = [];
    for (const digest of image.digests) {
      const piece = await reach<string | null>(() => this.#object().imagePiece(digest));
      if (piece === null) throw unknownImage();
      pieces.push(piece);
    }
    return pieces.join('');
  }

  end(): void {
    this.#over.resolve();
  }

  #object() {
    return conversationOf(this.#env, { conversationId: this.#conversationId });
  }

  /** The runtime ends the handler of a request whose sender has left, without its `finally`. */
  async #dropLater(): Promise<void> {
    const { left } = this.#request;
    const isLeft = Promise.withResolvers<void>();
    left.addEventListener('abort', () => isLeft.resolve());
    if (left.aborted) isLeft.resolve();
    await Promise.race([
      this.#over.promise,
      isLeft.promise.then(() => scheduler.wait(HELD_LIMITS.leftMs)),
    ]);
    // What stays goes after `waitMs`.
    await this.#object()
      .dropImages()
      .catch(() => undefined);
  }
}
