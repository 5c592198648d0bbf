/** The scripts of the upstream. A request names its script as its model, so every Worker passes the name on. */
import * as z from 'zod';

export interface Script {
  /** The number of `read_file` calls in each turn; the turn after these answers with text. */
  readonly calls: readonly number[];
  /** The script of the subagents that the calls start instead of reading. */
  readonly starts?: string;
  /** The tokens of that text. */
  readonly tokens: number;
  /**
   * The time from one token to the next. 0 sends each token by itself without a pause; `one piece` sends all in one
   * write; `never` sends nothing, not even headers.
   */
  readonly everyMs: number | 'one piece' | 'never';
}

const READING_TURNS = 30;

/** Fifty tokens a second, as from a large model. */
const MODEL_PACE_MS = 20;

export const SCRIPTS = {
  /** Makes a conversation and warms it up. */
  greeting: { calls: [], tokens: 5, everyMs: 'one piece' },
  piece: { calls: [], tokens: 1_000, everyMs: 'one piece' },
  burst: { calls: [], tokens: 1_000, everyMs: 0 },
  paced: { calls: [], tokens: 100, everyMs: 10 },
  reading: { calls: Array<number>(READING_TURNS).fill(1), tokens: 5, everyMs: 'one piece' },
  short: { calls: [], tokens: 20, everyMs: MODEL_PACE_MS },
  long: { calls: [], tokens: 1_000, everyMs: MODEL_PACE_MS },
  tools: { calls: [2, 2], tokens: 20, everyMs: MODEL_PACE_MS },
  /** An answer in a chat of eight seconds, and the answer to a task of a coding agent (bench/cost.ts). */
  chatting: { calls: [], tokens: 400, everyMs: MODEL_PACE_MS },
  working: { calls: [2, 2, 1, 1, 1, 1], tokens: 100, everyMs: MODEL_PACE_MS },
  subagent: { calls: [1], tokens: 5, everyMs: 'one piece', starts: 'tools' },
  subagents: { calls: [4], tokens: 5, everyMs: 'one piece', starts: 'tools' },
  /** Faster than a model, so that a returning client soon has much to read. */
  steady: { calls: [], tokens: 1_000, everyMs: 4 },
  silent: { calls: [], tokens: 0, everyMs: 'never' },
  crowd: { calls: [], tokens: 500, everyMs: MODEL_PACE_MS },
} as const satisfies Readonly<Record<string, Script>>;

export const ScriptName = z.enum(Object.keys(SCRIPTS) as [keyof typeof SCRIPTS]);
export type ScriptName = z.infer<typeof ScriptName>;

/** The file that every call reads: its name and its text. */
export const READ_FILE = {
  name: 'notes.md',
  text: Array.from({ length: 40 }, (_, line) => `- note ${line}: what was decided, and why`).join(
    '\n',
  ),
} as const;
