/** The text of a file as UTF-8, as ripgrep sees it: offsets that it tells are counted in that. */
import { decode } from './encoding.ts';

/** Null where the bytes are as they are searched: no byte order mark says otherwise. */
export function transcode({ bytes }: { readonly bytes: Uint8Array }): Uint8Array | null {
  const decoded = decode(bytes);
  const isTranscoded = decoded.kind === 'other' && decoded.encoding.startsWith('utf-16');
  const isMarked = decoded.kind === 'utf8' && decoded.bom;
  return isTranscoded || isMarked ? new TextEncoder().encode(decoded.text) : null;
}

/** Whether a byte order mark stands at the start; without one there is nothing to transcode. */
export function hasMark(bytes: Uint8Array): boolean {
  return MARKS.some((mark) => mark.every((byte, index) => bytes[index] === byte));
}

const MARKS: readonly (readonly number[])[] = [
  [0xef, 0xbb, 0xbf],
  [0xff, 0xfe],
  [0xfe, 0xff],
];
