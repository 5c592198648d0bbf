/** Decodes a JSON string that arrives in pieces, which may be cut anywhere. */
import { WellFormedText } from '../../packages/model/index.ts';

/** The result of reading one piece of input. */
export interface StringRead {
  /** Well-formed: half of a surrogate pair is held back until the other half comes. */
  readonly decoded: string;
  /** The index after the characters read, including the closing quote. */
  readonly end: number;
  readonly state: 'open' | 'closed' | 'broken';
}

/** Reads from after the opening quote to the closing one. `broken` means an escape that JSON does not have. */
export class JsonString {
  readonly #decoded = new WellFormedText();
  /** An escape that is not complete yet, from its backslash on. */
  #escape = '';

  read(input: string, start: number): StringRead {
    let decoded = '';
    let at = start;
    while (at < input.length) {
      if (this.#escape === '') {
        const end = nextSpecial(input, at);
        decoded += input.slice(at, end);
        if (input[end] === '"') {
          decoded = this.#decoded.push(decoded) + this.#decoded.end();
          return { decoded, end: end + 1, state: 'closed' };
        }
        at = end + 1;
        if (end < input.length) this.#escape = '\\';
      } else {
        const unit = this.#unescape(input.charAt(at++));
        if (unit === null)
          return { decoded: this.#decoded.push(decoded), end: at, state: 'broken' };
        decoded += unit;
      }
    }
    return { decoded: this.#decoded.push(decoded), end: input.length, state: 'open' };
  }

  /** Takes the next character of an escape. Returns '' until it is complete, null if JSON does not have it. */
  #unescape(char: string): string | null {
    const sequence = this.#escape + char;
    if (sequence === '\\u' || PARTIAL_UNIT.test(sequence)) {
      this.#escape = sequence;
      return '';
    }
    this.#escape = '';
    if (UNIT.test(sequence)) return String.fromCharCode(Number.parseInt(sequence.slice(2), 16));
    return SIMPLE.get(sequence) ?? null;
  }
}

const PARTIAL_UNIT = /^\\u[\da-f]{1,3}$/i;
const UNIT = /^\\u[\da-f]{4}$/i;

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['\\"', '"'],
  ['\\\\', '\\'],
  ['\\/', '/'],
  ['\\b', '\b'],
  ['\\f', '\f'],
  ['\\n', '\n'],
  ['\\r', '\r'],
  ['\\t', '\t'],
]);

const SPECIAL = /["\\]/g;

/** The index of the next quote or backslash, or the input's length. */
function nextSpecial(input: string, start: number): number {
  SPECIAL.lastIndex = start;
  return SPECIAL.exec(input)?.index ?? input.length;
}
