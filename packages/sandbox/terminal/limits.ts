/** The limits of commands and of their output, each with its reason. */
import { KIB, MIB, SECOND } from '../../../shared/units.ts';

export const TERMINAL_LIMITS = {
  /** Lines of a command's output in which names of closed files are looked for. */
  maxComplaints: 200,
  /** From a process's exit until its pipes are given up: a daemon may keep them open for ever. */
  drainMs: 500,
  /** UTF-16 units of output that a result shows of the start and of the end. */
  maxHeadChars: 16 * KIB,
  maxTailChars: 16 * KIB,
  /** UTF-16 units of the end that are kept for paging: 64,000 tokens, more than a model pages through. */
  keptTailChars: 256 * KIB,
  /** UTF-16 units below which two pieces of output become one: a kept end has 64 pieces at most. */
  minPieceChars: 4 * KIB,
  /** UTF-16 units of one page of output. */
  maxPageChars: 32 * KIB,
  /** Ended commands of one bridge whose output can still be read: those of some hours, in some 10 MB of memory. */
  maxEnded: 32,
  /** Input that a process has not read yet, in bytes, with which it takes no more: a pipe holds 64 KiB of it. */
  maxWaitingInputBytes: 256 * KIB,
  /** Between an input and the look at what the process prints on it. */
  inputQuietMs: 300,
  /** The wait for a pattern where a call names no timeout. */
  defaultWaitMs: 30 * SECOND,
  /** Between two looks at the output of a process that is waited for: each look starts ripgrep, which takes 5 ms. */
  waitPollMs: 100,
  /** UTF-16 units of output that one look searches, and those of a line's beginning that the next look searches again. */
  maxSearchedChars: 256 * KIB,
  maxLineChars: 4 * KIB,
  /**
   * UTF-16 units of a shell's report, which has its variables twice, and of those that later commands take over: a
   * person reads them in each question.
   */
  maxReportChars: 256 * KIB,
  maxSessionChars: 8 * KIB,
  /** Conversations whose folder and variables are kept: those of a day. */
  maxSessions: 64,
  /** UTF-16 units of a command line in a list of processes. */
  maxListedChars: 200,
  /**
   * UTF-16 units of output read before a pause, and the pause: 40 MB a second, more than any build prints, at a few
   * percent of a core.
   */
  maxOutputCharsPerPause: MIB,
  outputPauseMs: 25,
  /** Between two checks of an ending process group: a delay that no person notices. */
  groupPollMs: 20,
  /** Between two checks of an ending sandbox, whose last process mostly goes within 2 ms: each command waits for it. */
  namespacePollMs: 1,
  /** Between two looks at whether all processes of a running command have gone: a look takes a millisecond. */
  gonePollMs: 1.5 * SECOND,
  /** A background command that prints nothing for this long counts as started: a build step rarely pauses that long. */
  backgroundQuietMs: SECOND,
  /** A background command that keeps printing is reported after this long. */
  backgroundWaitMs: 5 * SECOND,
  /** Background commands of one bridge: with more, some have been forgotten. */
  maxBackground: 16,
} as const;
