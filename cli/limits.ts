/** The limits of the command line. */

const SECOND = 1000;

/** What `drawbridge chat` shows of long things; the documents themselves stay whole. */
export const RENDER_LIMITS = {
  /** Changed lines of one edit, and unchanged ones around each change. */
  maxDiffLines: 40,
  diffContextLines: 2,
  /** Steps of the search for a short diff; past that the texts have too little in common to compare. */
  maxDiffSteps: 2_000,
  /** UTF-16 units of a tool's arguments or of its result on its one line. */
  maxSummaryChars: 100,
  /** Lines of a command's output that was not seen live. */
  maxOutputLines: 40,
} as const;

/** The command line. */
export const CLI_LIMITS = {
  /** Until an input that stays silent beside a prompt is passed over: a person bears it, most programs are quicker. */
  firstInputMs: 3 * SECOND,
  /** For cancelling a run at SIGTERM: whoever sent it comes with SIGKILL before long. */
  cancelMs: 2 * SECOND,
  /** Between two looks whether a bridge that was offline is back. */
  bridgeLookMs: 2 * SECOND,
  /** Columns left for titles in a list below which the dates give up theirs. */
  minTitleColumns: 16,
} as const;
