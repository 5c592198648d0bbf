/** Limits of what a message says about the machine and the editor, in UTF-16 units. */
export const PROMPT_LIMITS = {
  /** A file tree. The bridge's tree has at most 12,000; a request's tree may be longer. */
  maxLayoutChars: 40_000,
  /** Git's status: the bridge cuts it at 4,000 and marks the cut. */
  maxGitStatusChars: 4_100,
  /** Names of open and recently viewed files, with the cursor: a hundred long paths. */
  maxFileNamesChars: 8_000,
  /** One open file: some 500 lines. The model can read the rest. */
  maxOpenFileChars: 20_000,
  /** All open files: a few tabs. */
  maxOpenFilesChars: 60_000,
  /** Files until which those without room are named, with how much of them is left out. */
  maxNotedFiles: 20,
  /** The text that is selected in the editor, with its path: the bridge cuts it at 16,384 and marks the cut. */
  maxSelectedChars: 21_000,
  /** What the files differ by that others changed: the bridge sends at most 16,384. As much of a request's history. */
  maxChangedChars: 17_000,
  /** Everything that one message names with `@`: the bridge sends at most 65,536. */
  maxAttachedChars: 66_000,
  /** Code that was found for a message: the bridge sends at most 6,000. */
  maxPassagesChars: 6_500,
  /** All linter errors: a hundred lines. More errors are fixed one after another anyway. */
  maxLinterChars: 10_000,
  /** One linter message: some messages quote half a file. */
  maxLinterMessageChars: 500,
  /** Names behind `@` in one message that can bring rules: as many as a workspace has rules. */
  maxNames: 200,
  /** All rules of the workspace: the bridge sends at most 98,304. */
  maxRulesChars: 100_000,
  /** The largest share of the model's room that each of these may take. It matters for small models. */
  maxShare: 0.15,
} as const;
