/** Where the large images of a request wait: its conversation is not known before all of it is read. */
import { newConversationId } from '../../shared/ids.ts';
import { sha256 } from '../../shared/text/sha256.ts';
import { noteMaking } from '../conversation/fork/fork.ts';
import type { Env } from '../env.ts';
import type { HeldImage } from '../images/marker.ts';
import { unknownImage, type WaitingImages } from '../images/waiting.ts';
import { conversationOf } from '../objects.ts';
import { reach } from '../reach.ts';

/** An object of its own, which becomes no conversation. It is made with the first piece. */
export class ImageSpool implements WaitingImages {
  readonly #env: Env;
  readonly #at: { readonly account: string; readonly conversationId: string };
  #isMade = false;

  constructor(env: Env, account: string) {
    this.#env = env;
    this.#at = { account, conversationId: newConversationId(crypto.randomUUID()) };
  }

  get id(): string | undefined {
    return this.#isMade ? this.#at.conversationId : undefined;
  }

  /** Holds a piece, and returns its digest. @throws {DrawbridgeError} as {@link noteMaking}, and UNAVAILABLE. */
  async hold(piece: string): Promise<string> {
    const digest = await sha256(piece);
    if (!this.#isMade) await noteMaking(this.#env, this.#at);
    this.#isMade = true;
    await reach(() => conversationOf(this.#env, this.#at).holdImage(digest, piece));
    return digest;
  }

  async contentOf({ digests }: HeldImage): Promise<string> {
    const pieces: string[] = [];
    for (const digest of digests) {
      const stub = () => conversationOf(this.#env, this.#at);
      const piece = this.#isMade && (await reach<string | null>(() => stub().imagePiece(digest)));
      if (!piece) throw unknownImage();
      pieces.push(piece);
    }
    return pieces.join('');
  }

  async drop(): Promise<void> {
    if (!this.#isMade) return;
    await conversationOf(this.#env, this.#at)
      .dropImages()
      .catch(() => undefined);
  }
}
