/** The limits of what a model remembers. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** What a model is told of a conversation that has outgrown it. Shares are of the room: the model's window without the answer. */
export const WINDOW_LIMITS = {
  /** Tokens of a window that nobody has told us: what most models that are good with tools have at least. */
  defaultTokens: 128_000,
  /** Tokens left for an answer whose length nobody limits, and the share of the window that they are at most. */
  reserveTokens: 20_000,
  maxReserveShare: 0.25,
  /** The same share where the length is set: servers refuse a prompt that leaves less than they were asked for. */
  maxAskedReserveShare: 0.75,
  /** Tokens per UTF-16 unit until one was measured: code and English, on the careful side. */
  tokensPerChar: 1 / 3.5,
  /** A measured one outside of these is a miscount: whitespace is below, rare scripts with old tokenizers are above. */
  minTokensPerChar: 1 / 6,
  maxTokensPerChar: 2,
  /**
   * A server that counts fewer tokens per UTF-16 unit than any text comes to has read only a part of its prompt, if it counts
   * at least so many: the smallest windows leave half of 2,048. Fewer are of servers that do not count, or only what is new.
   */
  cutTokensPerChar: 1 / 10,
  minCutTokens: 500,
  /** UTF-16 units that an image counts for: some 1,500 tokens, a large one at most providers. */
  imageChars: 5_000,
  /** UTF-16 units of what was told that an object holds for the next request: any usual window, few images (4 to 8 MB). */
  maxHeldChars: 4_000_000,
  /** UTF-16 units that a message and a call count for beside their texts: roles, ids, marks. */
  messageChars: 24,
  /** Full at this share: the rest is for what an estimate misses. */
  full: 0.85,
  /** Old results are left out down to this share, so that the next time is far; where that does not lead below `roomy`, a summary does. */
  pruned: 0.5,
  roomy: 0.6,
  /** What a window must save before the room is really exceeded; less would bring the next one soon. */
  minSaving: 0.125,
  /** What is told word for word beside a new summary. A run at work is not cut while it takes less than `uncut`. */
  tail: 0.25,
  uncut: 0.5,
  /** All results of one turn together; longer ones are told by their head and tail. */
  turnResults: 1 / 3,
  /** What may stand in a digest. The user's newest words may take more, where it is they that are long. */
  words: 0.25,
  newestWords: 0.5,
  summary: 0.1,
  plan: 0.1,
  todos: 0.05,
  /** A digest is one row of 2 MB, and every character can take six bytes: with a list of todos, this much is left. */
  maxSummaryChars: 25_000,
  maxPlanChars: 25_000,
  maxWordsBytes: 600_000,
  /** UTF-16 units to which the user's older messages are cut at most, before the oldest are left out. */
  minWordChars: 300,
  /** UTF-16 units up to which a result is neither cut nor left out: the note in its place would hardly be shorter. */
  minResultChars: 300,
  /** UTF-16 units that a word takes, for telling the model how long its summary may be: Markdown with paths and names. */
  wordChars: 7,
  /** UTF-16 units of one text in the request for a summary, where there is room; a saying of the user has more. */
  maxRenderedChars: 2_000,
  minRenderedChars: 60,
  /** For the model's summary; what was done is listed where it takes longer. */
  maxSummaryMs: 2 * MINUTE,
  /** UTF-16 units of a turn's first line and of a call's subject in a list of what was done. */
  maxListedChars: 160,
} as const;
