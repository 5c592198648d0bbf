/** Puts held images back into JSON, while it is sent. */
import { markersIn } from './marker.ts';

/** ImagePieces of images by their digests. A piece can be lost with a damaged row. */
export interface ImagePieces {
  has(digest: string): boolean;
  read(digest: string): string | null;
}

/**
 * The text as a body, with the images in place of their markers. No more than a piece is in memory. A marker whose
 * pieces are not all there stays.
 */
export function withImages(text: string, pieces: ImagePieces): string | ReadableStream<Uint8Array> {
  const held = markersIn(text).filter(({ digests }) => digests.every((each) => pieces.has(each)));
  if (held.length === 0) return text;
  const encoder = new TextEncoder();
  const parts: (Uint8Array | string)[] = [];
  let from = 0;
  let length = 0;
  const add = (part: string) => {
    const bytes = encoder.encode(part);
    parts.push(bytes);
    length += bytes.byteLength;
  };
  for (const { at, end, digests, chars } of held) {
    add(text.slice(from, at));
    parts.push(...digests);
    length += chars;
    from = end;
  }
  add(text.slice(from));
  // Servers want to know the length: few take a body in chunks.
  const { readable, writable } = new FixedLengthStream(length);
  void write(parts, pieces, writable).catch(() => undefined); // Whoever reads gets the error.
  return readable;
}

async function write(
  parts: readonly (Uint8Array | string)[],
  pieces: ImagePieces,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const encoder = new TextEncoder();
  const writer = writable.getWriter();
  try {
    for (const part of parts) {
      const bytes = typeof part === 'string' ? encoder.encode(pieces.read(part) ?? '') : part;
      await writer.write(bytes);
    }
    await writer.close();
  } catch (error) {
    await writer.abort(error);
  }
}
