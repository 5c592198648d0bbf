/** The limits of reading a command line. */
import { KIB } from '../../../shared/units.ts';

/** Limits of reading a command line for the rules. Where rules forbid or ask, a line beyond them needs an approval. */
export const RULE_LIMITS = {
  /** Levels of substitutions, and of lines that are arguments of shells. People write three. */
  maxNesting: 50,
  /** Commands of one line. Each rule judges each command. */
  maxCommands: 1_000,
  /** UTF-16 units between the parentheses of arithmetic: the search for their end stops there. */
  maxArithmeticChars: 1_000,
  /** Changes of the folder (`cd`) in a line: paths for git are resolved from each of them. People write two. */
  maxMoves: 8,
  /** Folders that a line of git may mean, and paths that it may name: each is compared with each. Beyond them it asks. */
  maxGitPlaces: 500,
  /** Parts of a word that can each be the beginning of a path (`HEAD:a:b`). People write two. */
  maxPathParts: 20,
  /** Words that are searched for a command after `sudo -u me` and the like. */
  maxWordsBefore: 64,
  /** UTF-16 units of all readings of one command. Each rule is matched with each reading. */
  maxReadingChars: 256 * KIB,
  /** UTF-16 units of a rule's tool name that are shown, and compared with the known names. */
  maxNameChars: 64,
  /** Patterns of one answer: a person reads each of them. */
  maxPatterns: 10,
  /** The same for hosts: the registries, and as many as a command may name. */
  maxHostPatterns: 20,
  /** Patterns that a search names when it leaves their files out. */
  maxNamedPatterns: 5,
} as const;
