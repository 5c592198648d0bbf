/** The limits of a conversation's memory. */
import { MINUTE } from '../../../../shared/units.ts';

/** Limits for a conversation that has outgrown its model. A share is of the model's window without the answer. */
export const WINDOW_LIMITS = {
  /** Tokens of a window whose size is not configured: most models that use tools well have at least this. */
  defaultTokens: 128_000,
  /** Tokens reserved for an answer without a set length, and the most that they may take as a share of the window. */
  reserveTokens: 20_000,
  maxReserveShare: 0.25,
  /** The same share where the length is set: servers refuse a prompt that leaves less than the requested length. */
  maxAskedReserveShare: 0.75,
  /** Tokens per UTF-16 unit until it is measured: a cautious value for code and English. */
  tokensPerChar: 1 / 3.5,
  /** A measured value outside is a miscount: whitespace is below, rare scripts with old tokenizers are above. */
  minTokensPerChar: 1 / 6,
  maxTokensPerChar: 2,
  /**
   * A server that counts fewer tokens per UTF-16 unit than this has read only a part of its prompt, if it counts at
   * least minCutTokens: the smallest windows leave half of 2,048. Servers that count fewer do not count at all, or
   * count only new text.
   */
  cutTokensPerChar: 1 / 10,
  minCutTokens: 500,
  /** UTF-16 units that an image counts for: about 1,500 tokens, as a large image takes at most providers. */
  imageChars: 5_000,
  /**
   * UTF-16 units of an image's address for each unit that it counts for: those of a full window of 1 MB take 16 MB.
   * Large images have short ones (worker/images).
   */
  imageShare: 16,
  /** UTF-16 units of messages that an object holds for the next request: any usual window, few images (4 to 8 MB). */
  maxHeldChars: 4_000_000,
  /** UTF-16 units that a message and a call count for besides their texts: roles, ids, marks. */
  messageChars: 24,
  /** The share at which a window is full: the rest allows for errors of the estimate. */
  full: 0.85,
  /** Old results are left out down to this share. Above `roomy`, a summary is made. */
  pruned: 0.5,
  roomy: 0.6,
  /** The share that a new window must save while the room is not exceeded: less would soon require the next window. */
  minSaving: 0.125,
  /** The share sent word for word besides a new summary. A current run is not cut while it takes less than `uncut`. */
  tail: 0.25,
  uncut: 0.5,
  /** The share for all results of one turn together; longer results are sent by their head and tail. */
  turnResults: 1 / 3,
  /** The shares of a digest's parts. The user's newest words may take `newestWords`, where they are long. */
  words: 0.25,
  newestWords: 0.5,
  summary: 0.1,
  plan: 0.1,
  skills: 0.15,
  todos: 0.05,
  /** A digest is one row of at most 2 MB, with up to six bytes for a character, and a list of todos. */
  maxSummaryChars: 25_000,
  maxPlanChars: 25_000,
  maxSkillsChars: 75_000,
  maxWordsBytes: 600_000,
  /** UTF-16 units to which the user's older messages are cut at most; then the oldest messages are left out. */
  minWordChars: 300,
  /** UTF-16 units up to which a result stays whole: the note that would replace it is hardly shorter. */
  minResultChars: 300,
  /** UTF-16 units per word, for the length of its summary: Markdown with paths and names. */
  wordChars: 7,
  /** UTF-16 units of a text in the request for a summary; twice for words. Cut to the minimum where room is short. */
  maxRenderedChars: 2_000,
  minRenderedChars: 60,
  /** The time for the model's summary; after it, a list of what was done replaces the summary. */
  maxSummaryMs: 2 * MINUTE,
  /** UTF-16 units of a turn's first line and of a call's subject in a list of what was done. */
  maxListedChars: 160,
} as const;
