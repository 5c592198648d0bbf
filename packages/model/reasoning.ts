/** Collects the reasoning of an answer, and keeps its details to be sent back. */
import { isObject } from '../../shared/text/json.ts';
import { type JsonObject, textIn } from './loose-json.ts';
import { WellFormedText } from './well-formed.ts';

/** Reads reasoning from any of its fields. Some servers send the same words in two fields. */
export class Reasoning {
  readonly #wellFormed = new WellFormedText();
  readonly #details: unknown[] = [];
  /** A plain field has brought words, so the words in the details only repeat them. */
  #isPlain = false;

  /** In the form that the upstream wants back. */
  get details(): readonly unknown[] {
    return this.#details;
  }

  /** Returns the words to show. */
  push(plain: string, details: readonly unknown[]): string {
    for (const detail of details) this.#addDetail(detail);
    if (plain !== '') this.#isPlain = true;
    return this.#wellFormed.push(this.#isPlain ? plain : details.map(wordsOf).join(''));
  }

  /** Call at the end of the stream. Returns what was held back. */
  end(): string {
    return this.#wellFormed.end();
  }

  /** A detail arrives in pieces. Successive pieces with the same type, index and id are one detail. */
  #addDetail(detail: unknown): void {
    const last = this.#details.at(-1);
    const merged = isObject(last) && isObject(detail) ? mergeDetails(last, detail) : undefined;
    if (merged) this.#details[this.#details.length - 1] = merged;
    else this.#details.push(detail);
  }
}

/** The field that holds the words, by type of detail. Details of other types are opaque. */
const WORDS: ReadonlyMap<unknown, string> = new Map([
  ['reasoning.text', 'text'],
  ['reasoning.summary', 'summary'],
]);

function wordsOf(detail: unknown): string {
  const field = isObject(detail) ? WORDS.get(detail['type']) : undefined;
  return isObject(detail) && field !== undefined ? textIn(detail, field) : '';
}

/** Undefined if the details cannot be joined. */
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
