/** Decodes bytes and encodes text. Only text that encodes to the same bytes may be edited. */
import { EDIT_LIMITS } from './limits.ts';

/** The decoded content of a file. `text` never begins with the byte order mark; `bom` is true where the file does. */
export type Decoded =
  | { readonly kind: 'utf8'; readonly text: string; readonly bom: boolean }
  /** Readable, but not editable: a write could change bytes that the edit did not ask to change. */
  | { readonly kind: 'other'; readonly text: string; readonly encoding: string }
  | { readonly kind: 'binary' };

/** Recognizes strict UTF-8, UTF-16 by its byte order mark, binary by a NUL near the start, and other encodings. */
export function decode(bytes: Uint8Array): Decoded {
  if (startsWith(bytes, UTF8_BOM)) return decodeUtf8(bytes.subarray(UTF8_BOM.length), true);
  if (startsWith(bytes, UTF16LE_BOM)) return decodeOther(bytes, 'utf-16le');
  if (startsWith(bytes, UTF16BE_BOM)) return decodeOther(bytes, 'utf-16be');
  if (bytes.subarray(0, EDIT_LIMITS.binaryProbeBytes).includes(0)) return { kind: 'binary' };
  return decodeUtf8(bytes, false);
}

/** The bytes of a text, with the byte order mark if the file had one. */
export function encode(text: string, bom: boolean): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  return bom ? Buffer.concat([UTF8_BOM, bytes]) : bytes;
}

const UTF8_BOM = Uint8Array.of(0xef, 0xbb, 0xbf);
const UTF16LE_BOM = Uint8Array.of(0xff, 0xfe);
const UTF16BE_BOM = Uint8Array.of(0xfe, 0xff);

/** The marks by which an encoding is recognized. */
export const BYTE_ORDER_MARKS: readonly Uint8Array[] = [UTF8_BOM, UTF16LE_BOM, UTF16BE_BOM];

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

function decodeUtf8(bytes: Uint8Array, bom: boolean): Decoded {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { kind: 'utf8', text, bom };
  } catch {
    // A fatal decoder throws only for invalid bytes. In windows-1252 every byte has a meaning.
    return decodeOther(bytes, 'windows-1252');
  }
}

function decodeOther(bytes: Uint8Array, encoding: string): Decoded {
  return { kind: 'other', text: new TextDecoder(encoding).decode(bytes), encoding };
}
