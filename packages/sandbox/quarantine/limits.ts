/** The limits of the quarantine. */
import { KIB, MIB, SECOND } from '../../../shared/units.ts';

/** Bounds on the search for things that commands made, and on putting them away. */
export const QUARANTINE_LIMITS = {
  /** Entries of one folder, and of one repository, that are looked at: a clone's loose objects are some thousands. */
  maxEntries: 100_000,
  /** Entries of one repository that are put away one by one; with more the whole repository goes. */
  maxFindings: 200,
  /** New repositories that are examined after one command; with more, all are put away whole. A clone brings a few. */
  maxRepositories: 50,
  /** Depth of folders in a repository. Refs and objects have few levels, and each level is held open. */
  maxDepth: 64,
  /** Bytes of a repository's configuration and of a `.git` file. Both usually have some hundred. */
  maxConfigBytes: 256 * KIB,
  maxLinkBytes: 4 * KIB,
  /** Milliseconds for listing a configuration, which usually takes 3. */
  gitTimeoutMs: 5 * SECOND,
  /** Attempts to clean a repository that keeps changing, before the whole repository goes. */
  maxRounds: 3,
  /** Bytes that are copied where the state lies on another disk. A rename on the same disk has no limit. */
  maxCopyBytes: 256 * MIB,
  /** Bounds of a report: UTF-16 units of one thing, things of one place, and places at once. */
  maxWhatChars: 200,
  maxWhats: 20,
  maxReported: 20,
  /** Names with a dot at the top of a workspace that are remembered as reported. Few projects have fifty. */
  maxDotNames: 2_000,
  /** Entries that `drawbridge check` looks at, which takes some seconds. No project has as many. */
  maxCheckedEntries: 2_000_000,
  /**
   * Milliseconds between looks while a background command runs, so that no find waits for the person's next command.
   */
  watchMs: 5 * SECOND,
  /** Milliseconds that a file's clock may be behind: kernels use the time of their last tick, 10 ms old at most. */
  clockSlackMs: 20,
} as const;
