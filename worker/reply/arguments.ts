/** Reads the arguments of a tool call while the model still writes them: JSON text in, decoded strings out. */
import { JsonString } from './json-string.ts';

/** Part of a top-level property whose value is a string. */
export type ArgumentEvent =
  | { readonly type: 'delta'; readonly name: string; readonly delta: string }
  /** The string is complete. An empty one had no delta. */
  | { readonly type: 'end'; readonly name: string };

/** What the reader expects next, or reads now. `over`: the object has finished, or the text is not a JSON object. */
type ReaderState = 'object' | 'name' | 'colon' | 'value' | 'comma' | Inside | 'over';
type Inside = 'in_name' | 'in_string' | 'in_value';

/**
 * Reads every character once. Finds strings without validating: text that is not a JSON object gives no more events,
 * and other code validates the arguments at the end. Reads only the first of several properties with the same name.
 */
export class ArgumentReader {
  #state: ReaderState = 'object';
  #string = new JsonString();
  #name = '';
  readonly #names = new Set<string>();
  /** Inside a skipped value: the number of open brackets, and whether a string is open. */
  #depth = 0;
  #isQuoted = false;
  #events: ArgumentEvent[] = [];

  push(fragment: string): ArgumentEvent[] {
    let at = 0;
    while (at < fragment.length && this.#state !== 'over') at = this.#read(fragment, at);
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Returns the index after the characters read. */
  #read(input: string, at: number): number {
    switch (this.#state) {
      case 'in_name':
        return this.#readName(input, at);
      case 'in_string':
        return this.#readString(input, at);
      case 'in_value':
        return this.#isQuoted ? this.#readQuoted(input, at) : this.#readValue(input, at);
      default: {
        const char = input.charAt(at);
        if (!' \n\r\t'.includes(char)) this.#state = this.#stateAfter(char);
        if (char === '"') this.#string = new JsonString();
        return this.#state === 'in_value' ? at : at + 1;
      }
    }
  }

  #stateAfter(char: string): ReaderState {
    switch (this.#state) {
      case 'object':
        return char === '{' ? 'name' : 'over';
      case 'name':
        return char === '"' ? 'in_name' : 'over';
      case 'colon':
        return char === ':' ? 'value' : 'over';
      case 'value':
        return char === '"' && !this.#names.has(this.#name) ? 'in_string' : 'in_value';
      case 'comma':
        return char === ',' ? 'name' : 'over';
      default:
        return this.#state;
    }
  }

  #readName(input: string, start: number): number {
    const { decoded, end, state } = this.#string.read(input, start);
    this.#name += decoded;
    if (state !== 'open') this.#state = state === 'closed' ? 'colon' : 'over';
    return end;
  }

  #readString(input: string, start: number): number {
    const { decoded, end, state } = this.#string.read(input, start);
    const name = this.#name;
    if (decoded !== '') this.#events.push({ type: 'delta', name, delta: decoded });
    if (state === 'closed') {
      this.#events.push({ type: 'end', name });
      this.#endValue();
    } else if (state === 'broken') this.#state = 'over';
    return end;
  }

  /** Reads a string inside a skipped value. */
  #readQuoted(input: string, start: number): number {
    const { end, state } = this.#string.read(input, start);
    if (state === 'broken') this.#state = 'over';
    this.#isQuoted = state === 'open';
    if (state === 'closed' && this.#depth === 0) this.#endValue();
    return end;
  }

  #readValue(input: string, at: number): number {
    const char = input.charAt(at);
    if (this.#depth === 0 && (char === ',' || char === '}')) {
      this.#endValue();
      return at;
    }
    if (char === '"') {
      this.#isQuoted = true;
      this.#string = new JsonString();
    } else if (char === '{' || char === '[') {
      this.#depth++;
    } else if ((char === '}' || char === ']') && --this.#depth <= 0) {
      this.#endValue();
    }
    return at + 1;
  }

  #endValue(): void {
    this.#names.add(this.#name);
    this.#name = '';
    this.#depth = 0;
    this.#state = 'comma';
  }
}
