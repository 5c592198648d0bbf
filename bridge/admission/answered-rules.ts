/** The rules that people's answers made for one conversation. They are forgotten when the bridge ends. */
import type { Rule } from './rules.ts';

export class AnsweredRules {
  readonly #rules = new Map<string, readonly Rule[]>();

  /** The conversations that got none for the longest time are forgotten when there are too many. */
  add(conversationId: string, rules: readonly Rule[]): void {
    const known = this.of(conversationId);
    this.#rules.delete(conversationId);
    this.#rules.set(conversationId, [...known, ...rules].slice(-MAX_RULES));
    const [oldest] = this.#rules.keys();
    if (oldest !== undefined && this.#rules.size > MAX_CONVERSATIONS) this.#rules.delete(oldest);
  }

  of(conversationId: string): readonly Rule[] {
    return this.#rules.get(conversationId) ?? [];
  }
}

/** Far more than people answer while a bridge runs. */
const MAX_CONVERSATIONS = 1_000;
const MAX_RULES = 1_000;
