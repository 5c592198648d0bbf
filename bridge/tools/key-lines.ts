/** Masks lines of private keys that a search found: a line alone does not show that it is one. */

import { maskSecrets } from '../../machine/secrets/filter.ts';
import { KIB } from '../../shared/units.ts';

/** Some lines of a file. */
interface FoundLines {
  readonly name: string;
  readonly lines: readonly string[];
  readonly offset: number;
  readonly bytes: Buffer;
}

/** Reads bytes of a file; null where it may not be read. */
type ReadAround = (name: string, offset: number, length: number) => Promise<Uint8Array | null>;

/** For one search, whose lines come file by file. */
export class KeyLines {
  readonly #read: ReadAround;
  #name = '';
  #from = 0;
  /** With one character for each byte. */
  #text = '';
  #masked = '';

  constructor(read: ReadAround) {
    this.#read = read;
  }

  /** The same lines, where none is a part of a key. */
  async masked({ name, lines, offset, bytes }: FoundLines): Promise<readonly string[]> {
    if (!lines.some((line) => LONG_RUN.test(line))) return lines;
    await this.#lookAround(name, offset, bytes.length);
    if (this.#masked === this.#text) return lines;
    const first = this.#text.slice(0, offset - this.#from).split('\n').length - 1;
    const [before, after] = [this.#text, this.#masked].map((text) => text.split('\n'));
    return lines.map((line, index) => {
      const shown = after?.[first + index] ?? '';
      const isSame = shown === before?.[first + index];
      return isSame ? line : Buffer.from(shown.replace(/\r$/, ''), 'latin1').toString();
    });
  }

  async #lookAround(name: string, offset: number, length: number): Promise<void> {
    const isKnown =
      name === this.#name &&
      this.#from <= Math.max(0, offset - WIDEST) &&
      this.#from + this.#text.length >= offset + length + WIDEST;
    if (isKnown) return;
    this.#from = Math.max(0, offset - 2 * WIDEST);
    const size = offset - this.#from + length + 2 * WIDEST;
    const bytes = (await this.#read(name, this.#from, size)) ?? new Uint8Array();
    this.#name = name;
    this.#text = Buffer.from(bytes).toString('latin1');
    this.#masked = maskSecrets(this.#text);
  }
}

/** A line of a key has 64 of these characters; its last one less, which says little. */
const LONG_RUN = /[A-Za-z0-9+/]{60}/;
/** Bytes of a key above or below one of its lines: 16,384 bits of RSA have 13,000. */
const WIDEST = 16 * KIB;
