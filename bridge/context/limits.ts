/** Limits of what a look finds for one message. Lengths are in UTF-16 units. */
import { KIB, MIB, SECOND } from '../../shared/units.ts';

export const FIND_LIMITS = {
  /** Milliseconds for everything: a page may take 6 s. After it the look is answered without. */
  maxMs: 7 * SECOND,
  /** Bytes of a file that is read. A larger one is read in parts, by the tools. */
  maxFileBytes: 512 * KIB,
  /** All attachments of a message: 16,000 tokens. */
  maxAllAttachedChars: 64 * KIB,
  /** Files of an attached folder whose start is shown, and the length of each start. */
  maxFolderFiles: 8,
  maxFolderFileChars: 1_500,
  /** The start of each file that an editor shows besides the active one. */
  maxRecentChars: 4 * KIB,
  /** Lines. The shown part of a long file moves in such steps, so that it stays the same while the cursor moves a little. */
  cursorStep: 100,
  /** More than the notes behind the lines of a file take. */
  noteChars: 160,
  /** The difference of one changed file, and of all: a person changes little between two messages. */
  maxDiffChars: 4 * KIB,
  maxAllDiffChars: 16 * KIB,
  /** Seen files that one look compares, the latest first: each takes some 20 µs while it stays the same. */
  maxCompared: 300,
  /** Files that a conversation has used last, about which an editor is asked: as many as an editor has open. */
  maxUsedFiles: 10,
  /** Comparisons that are remembered, each with a difference. */
  maxComparisons: 1_000,
} as const;

/** Git's status. */
export const STATUS_LIMITS = {
  /** UTF-16 units of the status. */
  maxGitStatusChars: 4_000,
  /** Bytes of an answer of git; a longer status is not shown. */
  maxGitBytes: 16 * MIB,
  /** The time for git's status, and for quick answers (settings, a status without new files). Both fit into a look. */
  gitStatusMs: 2.5 * SECOND,
  gitQuickMs: SECOND,
} as const;
