/** How much of the user's surroundings a message tells: UTF-16 units, each with its reason. */
export const PROMPT_LIMITS = {
  /** A file tree: the bridge's has 12,000 at most, one that a request brings may be longer. */
  maxLayoutChars: 40_000,
  /** Git's status: the bridge cuts it at 4,000 and marks the cut. */
  maxGitStatusChars: 4_100,
  /** Names of open and recently viewed files, with the cursor: a hundred long paths. */
  maxFileNamesChars: 8_000,
  /** Of one open file: some 500 lines, the rest can be read. All of them: a few tabs. */
  maxOpenFileChars: 20_000,
  maxOpenFilesChars: 60_000,
  /** What linters say: a hundred lines. Who has more begins with the first ones anyway. */
  maxLinterChars: 10_000,
  /** One message of a linter: some quote half a file. */
  maxLinterMessageChars: 500,
  /** What each of these takes of a small model's room at most. */
  maxShare: 0.15,
} as const;
