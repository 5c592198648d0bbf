/** The limits of reading a command line. */

const KIB = 1024;

/** Reading a command line for the rules. A line beyond them is asked about where rules forbid commands. */
export const RULE_LIMITS = {
  /** Substitutions inside of each other, and lines that are arguments of shells: people write three. */
  maxNesting: 50,
  /** Commands of one line: each is judged by each rule. */
  maxCommands: 1_000,
  /** UTF-16 units between the parentheses of arithmetic: how far is looked for its end. */
  maxArithmeticChars: 1_000,
  /** Words that are looked through for a command behind `sudo -u me` and the like. */
  maxWordsBefore: 64,
  /** UTF-16 units of all that one command may be called by: each is matched with each rule. */
  maxReadingChars: 256 * KIB,
  /** UTF-16 units of a tool's name in a rule that are shown, and compared with the names that there are. */
  maxNameChars: 64,
  /** Patterns that a search names when it leaves their files out. */
  maxNamedPatterns: 5,
} as const;
