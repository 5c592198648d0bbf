/** The limits of checkpoints, each with its reason. */
import { DAY, MIB } from '../../shared/units.ts';

export const CHECKPOINT_LIMITS = {
  /** Bytes of one file that are stored: sources are far smaller, and larger files are mostly made by programs. */
  maxFileBytes: 2 * MIB,
  /** Bytes of all stored contents of one bridge. The oldest go first. */
  maxStoreBytes: 256 * MIB,
  /** How long a change can be undone. */
  maxAgeMs: 30 * DAY,
  /** Changed files that the history has. Each takes some 300 bytes of memory. */
  maxChanges: 20_000,
  /** Bytes of the history's file that are read at the start: more than its changes need. */
  maxHistoryBytes: 32 * MIB,
  /** Lines of a file that are merged: the time grows with their square where lines repeat. */
  maxMergedLines: 20_000,
  /** Files of a folder whose changes by commands are found. Each takes some 250 bytes of memory. */
  maxWatched: 20_000,
  /** Bytes of their contents: half of the store stays for what has changed. */
  maxWatchedBytes: 128 * MIB,
  /** Files that are read before a command, because others changed them: some 20 ms. */
  maxReadBefore: 200,
  /** Files that are read after a command, because it changed them. */
  maxReadAfter: 2000,
  /** Folders that are watched at a time: the workspace, and worktrees. */
  maxFolders: 8,
  /** How long a file must be unchanged until its times show any later change: some file systems count in 10 ms. */
  settledMs: 20,
  /** Bytes of files, changed by the person since, that one undo holds. A further one is not merged. */
  maxHeldBytes: 64 * MIB,
  /** Files of one undo that a result lists, some 100 bytes each. */
  maxReported: 1000,
  /** Files that one sentence names. */
  maxNamed: 10,
  /** UTF-16 units of a preview: what a person can read, and far below what a question may have. */
  maxShownChars: 50_000,
} as const;
