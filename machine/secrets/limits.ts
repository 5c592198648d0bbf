/** The limits of masking, each with its reason. */
import { KIB } from '../../shared/units.ts';

export const SECRET_LIMITS = {
  /** UTF-16 units of a private key, from its first line on: 16,384 bits of RSA have 13,000. */
  maxKeyChars: 32 * KIB,
  /** Characters of base64 in a private key: the shortest, of Ed25519, has 64. */
  minKeyChars: 60,
  /** Bytes that a key may lack of the length that it states: those of its last line, which a program writes in its way. */
  maxLackedBytes: 24,
  /** UTF-16 units of a text that can hold a token. */
  minTokenChars: 20,
  /** UTF-16 units before a token that decide whether it begins there: an escape of a string or an address. */
  escapeChars: 16,
  /** UTF-16 units that are kept of what stands before: a line of a key, and the line above it. */
  leftChars: 512,
  /** Characters between the beginning and the end of a control sequence. Colours have 30. */
  maxParameterChars: 256,
  /** Characters of a control string, such as the address of a link: browsers take 2,000. */
  maxStringChars: 4 * KIB,
  /** UTF-16 units of a line that can be one of a key, with what a program writes before it. */
  maxLineChars: 256,
  /** Characters of base64 that are shown of a key's first line where its `BEGIN` is missing: a word may be as long. */
  shownTailChars: 20,
} as const;
