/** The reasoning that a model wants back unchanged: thinking blocks of Anthropic, reasoning items of OpenAI. */
import { isObject, type JsonObject } from '../loose-json.ts';
import type { ServerTarget } from '../models.ts';
import type { UpstreamMessage } from '../request.ts';

/**
 * A thought as it is stored among the reasoning details of a turn. Other models refuse it: it is signed or encrypted for
 * the model that wrote it.
 */
export interface Thought {
  readonly dialect: 'anthropic' | 'responses';
  /** The model's name at its server. */
  readonly model: string;
  /** Its place in the answer: 0 before the text, 1 behind the text, n + 1 behind the first n calls. */
  readonly place: number;
  /** As the server sent it. */
  readonly item: JsonObject;
}

/** Counts the parts of an answer as they come, for the places of its thoughts. */
export class Places {
  #hasText = false;
  #calls = 0;

  get here(): number {
    return this.#calls > 0 ? this.#calls + 1 : Number(this.#hasText);
  }

  text(): void {
    this.#hasText = true;
  }

  call(): void {
    this.#calls++;
  }
}

/** Whether a reasoning detail is a {@link Thought}, which Chat Completions must not get. */
export function isThought(detail: unknown): detail is Thought {
  return (
    isObject(detail) &&
    (detail['dialect'] === 'anthropic' || detail['dialect'] === 'responses') &&
    typeof detail['place'] === 'number' &&
    isObject(detail['item'])
  );
}

/** An assistant's message. */
export type AssistantMessage = Extract<UpstreamMessage, { role: 'assistant' }>;

/**
 * The parts of an answer with the thoughts of this very model at their places. `parts` has the text first (empty for
 * none) and then each call. A thought behind the last part is left out: the APIs refuse an answer that ends with one.
 */
export function withThoughts(
  { reasoning_details: details = [] }: AssistantMessage,
  { dialect, upstreamId, switches }: ServerTarget,
  parts: readonly (readonly object[])[],
): object[] {
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
