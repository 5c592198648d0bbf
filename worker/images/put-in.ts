/** Puts held images back into JSON, while it is sent. */
import { heldAt } from './marker.ts';

/** Pieces of images by their digests. A piece can be lost with a damaged row. */
export interface ImagePieces {
  /** The length of a piece; null where it is lost. */
  charsOf(digest: string): number | null;
  read(digest: string): string | null;
}

/**
 * The large images of one body. Each stands in its JSON as a token that nothing else there can be, because it is made
 * at random for this body alone.
 */
export class PlacedImages {
  readonly #pieces: ImagePieces;
  #token: string | undefined;
  readonly #placed: { readonly digests: readonly string[]; readonly chars: number }[] = [];
  #charsLeft: number;

  constructor(pieces: ImagePieces, maxChars = Infinity) {
    this.#pieces = pieces;
    this.#charsLeft = maxChars;
  }

  /** The address with a token in place of its marker; any other address as it is. */
  place(url: string): string | 'lost' | 'too_many' {
    const held = heldAt(url);
    if (!held) return url;
    let chars = 0;
    for (const digest of held.digests) {
      const of = this.#pieces.charsOf(digest);
      if (of === null) return 'lost';
      chars += of;
    }
    if (chars > this.#charsLeft) return 'too_many';
    this.#charsLeft -= chars;
    this.#token ??= crypto.randomUUID().replaceAll('-', '');
    const [head] = url.split(';base64,');
    this.#placed.push({ digests: held.digests, chars });
    return `${head};base64,${this.#token}/${this.#placed.length - 1}/`;
  }

  /** The text as a body, with the images in their places. No more than a piece is in memory. */
  fill(text: string, onPiece?: () => void): string | ReadableStream<Uint8Array> {
    if (this.#token === undefined) return text;
    const encoder = new TextEncoder();
    const parts: (Uint8Array | string)[] = [];
    let from = 0;
    let length = 0;
    const add = (part: string) => {
      const bytes = encoder.encode(part);
      parts.push(bytes);
      length += bytes.byteLength;
    };
    for (const { 0: token, 1: number, index } of text.matchAll(
      RegExp(`${this.#token}/(\\d+)/`, 'g'),
    )) {
      const { digests, chars } = this.#placed[Number(number)] ?? { digests: [], chars: 0 };
      add(text.slice(from, index));
      parts.push(...digests);
      length += chars;
      from = index + token.length;
    }
    add(text.slice(from));
    // Servers want to know the length: few take a body in chunks.
    const { readable, writable } = new FixedLengthStream(length);
    void this.#write(parts, writable, onPiece).catch(() => undefined); // The reader gets the error.
    return readable;
  }

  async #write(
    parts: readonly (Uint8Array | string)[],
    writable: WritableStream<Uint8Array>,
    onPiece: (() => void) | undefined,
  ): Promise<void> {
    const encoder = new TextEncoder();
    const writer = writable.getWriter();
    try {
      for (const part of parts) {
        const isPiece = typeof part === 'string';
        await writer.write(isPiece ? encoder.encode(this.#pieces.read(part) ?? '') : part);
        if (isPiece) onPiece?.();
      }
      await writer.close();
    } catch (error) {
      await writer.abort(error);
    }
  }
}
