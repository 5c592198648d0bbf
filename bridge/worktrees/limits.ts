/** The limits of worktrees, each with its reason. */
import { DAY, MIB, MINUTE, SECOND } from '../../shared/units.ts';

export const WORKTREE_LIMITS = {
  /** Worktrees of one bridge. Each is a copy of the files, with mounts and processes of its own. */
  maxWorktrees: 20,
  /** Bytes of a commit's files that are checked out: far more than the sources of one project. */
  maxCheckoutBytes: 4_096 * MIB,
  /** Bytes that stay free on the disk after a checkout, for the person's own work. */
  freeBytes: 1_024 * MIB,
  /** Bytes of new and changed files that a close takes: more is the output of a build, or a download. */
  maxNewBytes: 512 * MIB,
  /** A worktree without a use for so long makes room for another one, if all of its work is committed. */
  idleMs: 30 * DAY,
  /** A question to git. */
  gitAskMs: 10 * SECOND,
  /** A checkout, or a look at all files: a large repository on a slow disk. A call has 15 minutes in all. */
  gitWorkMs: 3 * MINUTE,
  /** The owner's setup script: an installation of packages. */
  setupMs: 10 * MINUTE,
  /** Bytes of what git prints: the names of a million files. */
  maxGitBytes: 128 * MIB,
  /**
   * A close waits so long for calls that run in the worktree, such as a command that was just cancelled: it
   * has `killGraceMs` to end and `drainMs` to be read, and an edit takes less.
   */
  settleMs: 5 * SECOND,
  /** UTF-16 units of git's complaint in an error. */
  maxComplaintChars: 1_000,
  /** Changed files that a close lists, and bytes of the list as JSON: it shares the result's metadata with the diff. */
  maxFiles: 1_000,
  maxFilesBytes: 250_000,
  /** UTF-16 units of the diff in a close's metadata, which has one megabyte. */
  maxDiffChars: 200_000,
  /** UTF-16 units of the diff that the model reads. */
  maxShownDiffChars: 30_000,
  /** Files whose content the diff leaves out one by one. With more, it leaves out all. */
  maxHiddenFiles: 200,
  /** Repositories inside a worktree that a close lists. */
  maxLeft: 100,
  /** Names of what a close leaves out in a sentence of its result. */
  maxShownNames: 5,
  /** Entries of repositories inside that a close looks at for work. With more, it takes them for work. */
  maxLookedEntries: 100_000,
  /** Names that are tried for a branch that got no name. */
  maxBranchTries: 100,
  /** Folders that the owner may link. */
  maxLinks: 20,
} as const;
