/** Counts how often a text mentions each concept of a question. */
import { CODEBASE_LIMITS } from './limits.ts';
import { type Concept, weightOf } from './question.ts';
import { identifiersOf, termsOf } from './terms.ts';

/** For each concept, in the question's order, the summed weights of its occurrences. */
export type Mentions = readonly number[];

/** Remembers every identifier it has seen, because a code base repeats them. Each search has its own matcher. */
export class Matcher {
  readonly concepts: readonly Concept[];
  readonly #known = new Map<string, Mentions | null>();

  constructor(concepts: readonly Concept[]) {
    this.concepts = concepts;
  }

  mentionsIn(text: string): Mentions {
    const sum = this.concepts.map(() => 0);
    for (const identifier of identifiersOf(text)) {
      this.#mentionsOf(identifier)?.forEach((weight, index) => {
        sum[index] = (sum[index] ?? 0) + weight;
      });
    }
    return sum;
  }

  /** One identifier mentions a concept at most once. Null when it mentions none. */
  #mentionsOf(identifier: string): Mentions | null {
    if (identifier.length > CODEBASE_LIMITS.maxIdentifierChars) return null;
    const known = this.#known.get(identifier);
    if (known !== undefined) return known;
    const terms = termsOf(identifier);
    const mentions = this.concepts.map((concept) =>
      Math.max(0, ...terms.map((term) => weightOf(concept, term))),
    );
    const kept = mentions.some((weight) => weight > 0) ? mentions : null;
    this.#known.set(identifier, kept);
    return kept;
  }
}

/** The sum of both counts. */
export function addMentions(a: Mentions, b: Mentions, weightOfB = 1): Mentions {
  return a.map((weight, index) => weight + (b[index] ?? 0) * weightOfB);
}
