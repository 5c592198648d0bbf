/** The limits of the quarantine. */

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND = 1000;

/** What a command made and is put away before a person's programs meet it. */
export const QUARANTINE_LIMITS = {
  /** Directory entries looked at for install scripts, nearest first: about 100 ms the first time. */
  maxScriptScanEntries: 20_000,
  /** Entries of one folder, and of one repository, that are looked at: a clone's loose objects are some thousands. */
  maxEntries: 100_000,
  /** Things of one repository that are put away one by one; with more the repository goes as a whole. */
  maxFindings: 200,
  /** New repositories that are looked into after one command; with more all go as they are. A clone brings a few. */
  maxRepositories: 50,
  /** Depth of folders in a repository: refs and objects have few, and each is held open. */
  maxDepth: 64,
  /** Bytes of a repository's configuration, and of a `.git` file: usual are some hundred. */
  maxConfigBytes: 256 * KIB,
  maxLinkBytes: 4 * KIB,
  /** For listing a configuration; usual are 3 ms. */
  gitTimeoutMs: 5 * SECOND,
  /** Attempts to clean a repository that changes meanwhile, before it goes as a whole. */
  maxRounds: 3,
  /** Bytes that are copied where the state lies on another disk; renaming on the same disk has no limit. */
  maxCopyBytes: 256 * MIB,
  /** UTF-16 units of one thing as it is told, things told of one place, and places told at once. */
  maxWhatChars: 200,
  maxWhats: 20,
  maxTold: 20,
  /** Entries that `drawbridge check` looks at: more than any project has, some seconds. */
  maxCheckedEntries: 2_000_000,
  /** How often is looked while a background command runs: what it makes waits no longer for the person's next command. */
  watchMs: 5 * SECOND,
  /** How much the clock of a file may be behind: kernels take the time of their last tick, 10 ms at most. */
  clockSlackMs: 20,
} as const;
