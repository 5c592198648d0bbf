/** What the upstream plays. A request names its script where it would name a model, so every Worker passes it on. */
import * as z from 'zod';

export interface Script {
  /** Calls of `read_file` in the first turn, the second, ...; the turn after them answers with text. */
  readonly calls: readonly number[];
  /** Tokens of that text. */
  readonly tokens: number;
  /**
   * From one token to the next: 0 sends each by itself without a pause, `one piece` all of them in one write; with `never`
   * nothing is answered, not even headers.
   */
  readonly everyMs: number | 'one piece' | 'never';
}

const READING_TURNS = 30;

/** Fifty tokens a second is what a large model does. */
const MODEL_PACE_MS = 20;

export const SCRIPTS = {
  /** Makes a conversation, and warms it. */
  greeting: { calls: [], tokens: 5, everyMs: 'one piece' },
  piece: { calls: [], tokens: 1_000, everyMs: 'one piece' },
  burst: { calls: [], tokens: 1_000, everyMs: 0 },
  paced: { calls: [], tokens: 100, everyMs: 10 },
  reading: { calls: Array<number>(READING_TURNS).fill(1), tokens: 5, everyMs: 'one piece' },
  short: { calls: [], tokens: 20, everyMs: MODEL_PACE_MS },
  long: { calls: [], tokens: 1_000, everyMs: MODEL_PACE_MS },
  tools: { calls: [2, 2], tokens: 20, everyMs: MODEL_PACE_MS },
  /** Quicker than a model, so that there is much to come back to soon. */
  steady: { calls: [], tokens: 1_000, everyMs: 4 },
  silent: { calls: [], tokens: 0, everyMs: 'never' },
  crowd: { calls: [], tokens: 500, everyMs: MODEL_PACE_MS },
} as const satisfies Readonly<Record<string, Script>>;

export const ScriptName = z.enum(Object.keys(SCRIPTS) as [keyof typeof SCRIPTS]);
export type ScriptName = z.infer<typeof ScriptName>;

/** What every call reads: the name of a file, and its text. */
export const READ_FILE = {
  name: 'notes.md',
  text: Array.from({ length: 40 }, (_, line) => `- note ${line}: what was decided, and why`).join(
    '\n',
  ),
} as const;
