/** The reasoning of an answer: kept apart from its text, and its details kept to be sent back. */
import { isObject, type JsonObject, textIn } from './loose-json.ts';
import { WellFormedText } from './well-formed.ts';

/** Reads reasoning from whichever of its fields a server uses; some use two for the same words. */
export class Reasoning {
  readonly #wellFormed = new WellFormedText();
  readonly #details: unknown[] = [];
  /** The words came in a field of their own, so those in the details are the same ones. */
  #isPlain = false;

  /** As the upstream wants them back. */
  get details(): readonly unknown[] {
    return this.#details;
  }

  /** Returns the words there are to show. */
  push(plain: string, details: readonly unknown[]): string {
    for (const detail of details) this.#addDetail(detail);
    if (plain !== '') this.#isPlain = true;
    return this.#wellFormed.push(this.#isPlain ? plain : details.map(wordsOf).join(''));
  }

  /** The stream has ended: what was held back. */
  end(): string {
    return this.#wellFormed.end();
  }

  /** A detail arrives in pieces: those with the same type and index are one. */
  #addDetail(detail: unknown): void {
    const last = this.#details.at(-1);
    const merged = isObject(last) && isObject(detail) ? mergeDetails(last, detail) : undefined;
    if (merged) this.#details[this.#details.length - 1] = merged;
    else this.#details.push(detail);
  }
}

/** The field of each type that holds words; other details are sealed. */
const WORDS: ReadonlyMap<unknown, string> = new Map([
  ['reasoning.text', 'text'],
  ['reasoning.summary', 'summary'],
]);

function wordsOf(detail: unknown): string {
  const field = isObject(detail) ? WORDS.get(detail['type']) : undefined;
  return isObject(detail) && field !== undefined ? textIn(detail, field) : '';
}

/** Undefined for details that stay two. */
function mergeDetails(first: JsonObject, second: JsonObject): JsonObject | undefined {
  const field = WORDS.get(first['type']);
  const isSame = ['type', 'index', 'id'].every(
    (name) => first[name] === (second[name] ?? first[name]),
  );
  if (field === undefined || !isSame) return undefined;
  const set = Object.entries(second).filter(([, value]) => value !== null);
  const words = textIn(first, field) + textIn(second, field);
  return { ...first, ...Object.fromEntries(set), [field]: words };
}
