/** The limits of checkpoints, each with its reason. */
import { DAY, MIB } from '../../shared/units.ts';

export const CHECKPOINT_LIMITS = {
  /** Bytes of one file that are stored: sources are far smaller, and larger files are mostly made by programs. */
  maxFileBytes: 2 * MIB,
  /** Bytes of all stored contents of one bridge. The oldest go first. */
  maxStoreBytes: 256 * MIB,
  /**
   * Of these bytes, those that are never evicted: deletions ran without a question because the store has them. Beyond
   * this bound deletions ask. The other half is for changes.
   */
  maxPromisedBytes: 128 * MIB,
  /** Changes of this kind that the history has: half of what it holds. */
  maxPromised: 10_000,
  /** How long a content stays for a deletion that has not begun: longer than any call waits for its turn. */
  promisedMs: DAY,
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
  /** Files and folders in caches, and beyond the watched files, whose disappearance is noticed: some 20 ms a look. */
  maxUnread: 5000,
  /** Of those, the ones that went during a command and that the history has for later ones: some 150 bytes each. */
  maxGone: 100,
  /** Of all commands in the history: 1.5 MB. The oldest go first. */
  maxAllGone: 10_000,
  /** Up to so many are rather somebody's files than those of a build: then any new file may be made from them. */
  maxFewGone: 10,
  /** Files that are read before a command, because others changed them: some 20 ms. */
  maxReadBefore: 200,
  /** Files that are read after a command, because it changed them. */
  maxReadAfter: 2000,
  /** Folders that are watched at a time: the workspace, and worktrees. */
  maxFolders: 8,
  /** Bytes of files, changed by the person since, that one undo holds. A further one is not merged. */
  maxHeldBytes: 64 * MIB,
  /** Bytes of a name that gets an ending for such a content: systems take 255. */
  maxBesideName: 230,
  /** Names that are tried for a content that goes beside its place. */
  maxBeside: 100,
  /** Files of one undo that a result lists, some 100 bytes each. */
  maxReported: 1000,
  /** Files that one sentence names. */
  maxNamed: 10,
  /** UTF-16 units of a preview: what a person can read, and far below what a question may have. */
  maxShownChars: 50_000,
} as const;
