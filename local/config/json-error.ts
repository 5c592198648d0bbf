/** Finds the first mistake in a JSON text, with its place and in words: JSON.parse says it in V8's way, or not at all. */

/** `line` and `column` begin with 1. `what` completes the sentence "FILE, line 3, column 5: ...". */
export interface JsonMistake {
  readonly line: number;
  readonly column: number;
  readonly what: string;
}

/** Deeper texts are refused: no setting needs as much, and the reader below is recursive. */
const MAX_DEPTH = 32;

/** Null for a text that JSON.parse takes, in which no object has a key twice, and which is not too deep. */
export function findJsonMistake(text: string): JsonMistake | null {
  const reader = new Reader(text);
  try {
    reader.readAll();
    return null;
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    const before = text.slice(0, error.at).split('\n');
    return { line: before.length, column: (before.at(-1) ?? '').length + 1, what: error.message };
  }
}

class Mistake extends Error {
  override readonly name = 'Mistake';
  readonly at: number;

  constructor(at: number, what: string) {
    super(what);
    this.at = at;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): void {
    this.#readValue(1);
    if (this.#next() !== '') throw this.#unexpected('the end of the file');
  }

  #readValue(depth: number): void {
    const first = this.#next();
    if (depth > MAX_DEPTH) throw new Mistake(this.#at, `this nests more than ${MAX_DEPTH} levels`);
    if (first === '{') this.#readObject(depth);
    else if (first === '[') this.#readList(depth);
    else if (first === '"') this.#readString();
    else if (!this.#take(/true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y)) {
      throw this.#unexpected('a value');
    }
  }

  #readObject(depth: number): void {
    const keys = new Set<string>();
    this.#at += 1;
    if (this.#skip('}')) return;
    do {
      if (this.#next() === '}') throw new Mistake(this.#at, 'a comma stands before }: remove it');
      if (this.#next() !== '"') throw this.#unexpected('a name in double quotes');
      const start = this.#at;
      const key = this.#readString();
      if (keys.has(key)) throw new Mistake(start, `${JSON.stringify(key)} is set twice`);
      keys.add(key);
      if (!this.#skip(':')) throw this.#unexpected('a colon');
      this.#readValue(depth + 1);
    } while (this.#skip(','));
    if (!this.#skip('}')) throw this.#unexpected('a comma or }');
  }

  #readList(depth: number): void {
    this.#at += 1;
    if (this.#skip(']')) return;
    do {
      if (this.#next() === ']') throw new Mistake(this.#at, 'a comma stands before ]: remove it');
      this.#readValue(depth + 1);
    } while (this.#skip(','));
    if (!this.#skip(']')) throw this.#unexpected('a comma or ]');
  }

  #readString(): string {
    const start = this.#at;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none of them in a string.
    const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;
    string.lastIndex = start;
    const body = string.exec(this.#text)?.[0] ?? '';
    this.#at = start + body.length;
    if (this.#text[this.#at] === '"') {
      this.#at += 1;
      return JSON.parse(`${body}"`);
    }
    if (this.#text[this.#at] === '\\') throw new Mistake(this.#at, 'JSON has no such escape');
    throw new Mistake(start, 'the closing quote of this text is missing');
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found !== undefined;
  }

  #skip(sign: string): boolean {
    if (this.#next() !== sign) return false;
    this.#at += 1;
    return true;
  }

  /** The next character that is no white space; empty at the end. */
  #next(): string {
    this.#take(/[ \t\n\r]+/y);
    return this.#text[this.#at] ?? '';
  }

  #unexpected(wanted: string): Mistake {
    const rest = this.#text.slice(this.#at);
    if (rest === '') return new Mistake(this.#at, `the text ends where ${wanted} must follow`);
    if (/^(?:\/\/|\/\*|#)/.test(rest)) return new Mistake(this.#at, 'JSON has no comments');
    if (rest.startsWith("'")) return new Mistake(this.#at, 'JSON has double quotes only');
    const found = /^(?:\w+|.)/u.exec(rest)?.[0] ?? '';
    // A word may be a key that a person pasted at the wrong place.
    const shown = found.length > 12 ? 'this word' : JSON.stringify(found);
    return new Mistake(this.#at, `${wanted} must stand here, not ${shown}`);
  }
}
