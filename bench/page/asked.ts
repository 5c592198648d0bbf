/** What a measurement asks of the scripted model, as the words of a message. */
import * as z from 'zod';

export interface Asked {
  /** Distinguishes the answers of a conversation. */
  readonly id: number;
  readonly chars: number;
  /** Of {@link TOKEN_CHARS} characters; 0 sends all at once. */
  readonly tokensPerSecond: number;
}

export const TOKEN_CHARS = 4;

export function messageOf({ id, chars, tokensPerSecond }: Asked): string {
  return `Answer ${id}: ${chars} characters, ${tokensPerSecond} tokens a second.`;
}

/** The last line of the answer. */
export function endOf({ id }: Pick<Asked, 'id'>): string {
  return `This was answer ${id}.`;
}

/** The newest message in this text; undefined without one. */
export function askedIn(text: string): Asked | undefined {
  const found = [...text.matchAll(/Answer (\d+): (\d+) characters, (\d+) tokens a second\./g)];
  const last = found.at(-1);
  if (!last) return undefined;
  const [, id, chars, tokensPerSecond] = last.map((word) => z.coerce.number().catch(0).parse(word));
  return { id: id ?? 0, chars: chars ?? 0, tokensPerSecond: tokensPerSecond ?? 0 };
}
