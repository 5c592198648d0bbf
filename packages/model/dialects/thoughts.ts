/** The reasoning that a model wants back unchanged: thinking blocks of Anthropic, reasoning items of OpenAI. */
import type { ModelDialect } from '../../../shared/settings/dialects.ts';
import { isObject } from '../../../shared/text/json.ts';
import type { JsonObject } from '../loose-json.ts';
import type { ServerTarget } from '../models.ts';
import type { UpstreamMessage } from '../request.ts';

/** A thought among a turn's reasoning details. It is signed or encrypted for the model that wrote it. */
export interface Thought {
  readonly dialect: ModelDialect;
  /** The model's name at its server. */
  readonly model: string;
  /** Its place in the answer: 0 before the text, 1 behind the text, n + 1 behind the first n calls. */
  readonly place: number;
  /** As the server sent it. */
  readonly item: JsonObject;
}

/** Follows the parts of an answer as they come: for the places of its thoughts, and for the gaps in its words. */
export class Course {
  #hasText = false;
  #calls = 0;
  /** Words that the next ones would run into. A call or other words end them. */
  readonly #open = { text: false, reasoning: false };
  /** The next words are a paragraph of their own. */
  readonly #isApart = { text: false, reasoning: false };

  /** The place of a thought that begins now. */
  get place(): number {
    return this.#calls > 0 ? this.#calls + 1 : Number(this.#hasText);
  }

  /** A block or an item begins whose words do not continue those before it. */
  breakOff(): void {
    Object.assign(this.#isApart, this.#open);
  }

  /** The text as it is to be shown, with a blank line before it if it would run into text before it. */
  text(text: string): string {
    if (text.trim() !== '') this.#hasText = true;
    return this.#join('text', text);
  }

  /** The same for reasoning. Text between two thoughts separates them. */
  reasoning(reasoning: string): string {
    return this.#join('reasoning', reasoning);
  }

  call(): void {
    this.#calls++;
    Object.assign(this.#open, SEPARATE);
    Object.assign(this.#isApart, SEPARATE);
  }

  #join(kind: 'text' | 'reasoning', words: string): string {
    if (words === '') return '';
    const gap = this.#isApart[kind] && !words.startsWith('\n') ? '\n\n' : '';
    this.#isApart[kind] = false;
    this.#open[kind] ||= words.trim() !== '';
    if (kind === 'text') this.#open.reasoning = false;
    return gap + words;
  }
}

const SEPARATE = { text: false, reasoning: false };

/** Whether a reasoning detail is a {@link Thought}, which Chat Completions must not get. */
export function isThought(detail: unknown): detail is Thought {
  return (
    isObject(detail) &&
    typeof detail['dialect'] === 'string' &&
    typeof detail['place'] === 'number' &&
    isObject(detail['item'])
  );
}

export type AssistantMessage = Extract<UpstreamMessage, { role: 'assistant' }>;

/**
 * The parts of an answer with the thoughts of this very model at their places. `parts` has the text first (empty for
 * none) and then each call. A thought behind the last part is left out: the APIs refuse an answer that ends with one.
 */
export function withThoughts(
  { reasoning_details: details = [] }: AssistantMessage,
  { dialect, upstreamId, switches }: ServerTarget,
  parts: readonly (readonly JsonObject[])[],
): JsonObject[] {
  const thoughts = details
    .filter(isThought)
    .filter((thought) => thought.dialect === dialect && thought.model === upstreamId);
  return parts.flatMap((part, place) => [
    ...(switches.returnReasoning ? thoughts : [])
      .filter((thought) => thought.place === place)
      .map(({ item }) => item),
    ...part,
  ]);
}
