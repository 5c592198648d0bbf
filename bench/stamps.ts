/** Makes tokens that carry their sending time, and finds them again in any framing. */

import type { Answered } from './client.ts';
import { nowMs } from './clock.ts';
import { SCRIPTS, type ScriptName } from './scripts.ts';
import type { Talk } from './side.ts';

const MARK = '@';
const DIGITS = 4;
const BASE = 36;
/** The unit of the last digit. */
const UNIT_MS = 0.01;
/** Characters of a token, and its bytes in every encoding. */
export const TOKEN_CHARS = MARK.length + DIGITS;
/** Times repeat after this many milliseconds, about 17 s: far longer than a token's way. */
const PERIOD_MS = BASE ** DIGITS * UNIT_MS;

export interface Heard extends Answered {
  /** The age of every token at its arrival, in milliseconds. */
  readonly agesMs: readonly number[];
}

/** Asks for an answer and reads it to its end. @throws if tokens are missing. */
export async function hear(talk: Talk, script: ScriptName): Promise<Heard> {
  const { tokens } = SCRIPTS[script];
  const reader = new StampReader(tokens);
  const answered = await talk(script, (text) => reader.push(text));
  const { agesMs } = reader;
  if (agesMs.length !== tokens) throw new Error(`${agesMs.length} of ${tokens} tokens arrived.`);
  return { ...answered, agesMs };
}

/** A token sent now: five characters, like a usual token. It has no meaning in Markdown, JSON or SSE. */
export function stampedToken(): string {
  const units = Math.floor((nowMs() % PERIOD_MS) / UNIT_MS);
  return MARK + units.toString(BASE).padStart(DIGITS, '0');
}

/**
 * Takes a stream's text piece by piece and collects the age of each token at its arrival, in milliseconds. It stops
 * after `tokens` tokens, because Drawbridge repeats the whole text at the end of a document.
 */
export class StampReader {
  readonly agesMs: number[] = [];
  readonly #tokens: number;
  /** A stamp that the piece's end cut off. */
  #rest = '';

  constructor(tokens: number) {
    this.#tokens = tokens;
  }

  push(text: string): void {
    const arrivedMs = nowMs() % PERIOD_MS;
    const whole = this.#rest + text;
    let at = whole.indexOf(MARK);
    while (at >= 0 && at + DIGITS < whole.length && this.agesMs.length < this.#tokens) {
      const sentMs = Number.parseInt(whole.slice(at + 1, at + 1 + DIGITS), BASE) * UNIT_MS;
      this.agesMs.push((arrivedMs - sentMs + PERIOD_MS) % PERIOD_MS);
      at = whole.indexOf(MARK, at + 1 + DIGITS);
    }
    this.#rest = at < 0 ? '' : whole.slice(at);
  }
}
