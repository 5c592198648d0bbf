/** The text of a file as UTF-8, as ripgrep sees it. ripgrep counts its offsets in this text. */
import { BYTE_ORDER_MARKS, decode } from './encoding.ts';

/** Null where ripgrep searches the bytes as they are: they have no byte order mark. */
export function transcode({ bytes }: { readonly bytes: Uint8Array }): Uint8Array | null {
  const decoded = decode(bytes);
  const isTranscoded = decoded.kind === 'other' && decoded.encoding.startsWith('utf-16');
  const isMarked = decoded.kind === 'utf8' && decoded.bom;
  return isTranscoded || isMarked ? new TextEncoder().encode(decoded.text) : null;
}

/** Whether the bytes begin with a byte order mark. Without one there is nothing to transcode. */
export function hasMark(bytes: Uint8Array): boolean {
  return BYTE_ORDER_MARKS.some((mark) => mark.every((byte, index) => bytes[index] === byte));
}
