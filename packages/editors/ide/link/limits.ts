/** The limits of the link to an editor, each with its reason. */
import { KIB, MIB, SECOND } from '../../../../shared/units.ts';

export const LINK_LIMITS = {
  /** For a companion's answer to `initialize`. It runs on this machine, and a hanging one must not hide the next. */
  connectMs: 2 * SECOND,
  /** For its list of tools: an editor that just opens a large folder is slow. */
  listMs: 5 * SECOND,
  /** Companions that may hang in one round. A closed port fails at once and does not count. */
  maxHanging: 5,
  /** The first wait before the next look for an editor, and the longest: a restarted editor is found within seconds. */
  retryMs: SECOND,
  maxRetryMs: 10 * SECOND,
  /** A connection that lives this long was good, and the waits start over. */
  steadyMs: 10 * SECOND,
  /** Without a byte for this long the connection is tested. Companions send a `ping` every 30 or 60 seconds. */
  quietMs: 150 * SECOND,
  /** For the answer to that test. */
  probeMs: 10 * SECOND,
  /** For the answer to `openDiff` and `closeDiff`, which says only that the request has arrived. */
  acknowledgeMs: 20 * SECOND,
  /** Requests about one diff that get no answer: the second one comes after a new connection, which often helps. */
  maxUnanswered: 2,
  /** A result that is already under way when its diff is withdrawn: it must not count for the next diff of the file. */
  lingerMs: SECOND,
  /** How long the end of the bridge waits for open diffs to be closed. */
  endMs: 2 * SECOND,
  /** Bytes of a request with a diff. The official companions take 10 MiB. */
  maxDiffBytes: 10 * MIB - 64 * KIB,
  /** Bytes of one message of a companion: a file of 10 MiB whose every character is escaped in JSON. */
  maxMessageBytes: 64 * MIB,
  /** Open files of an update that are looked at; the official companions send ten. */
  maxFilesRead: 1_000,
  /**
   * For all answers of a look to `getDiagnostics`, which editors give from memory: half of what a run waits for a look.
   * After so many looks without an answer an editor is not asked for a while, so that it slows no run.
   */
  diagnoseMs: 150,
  maxLateLooks: 3,
  diagnosePauseMs: 30 * SECOND,
  /** Files of a look that are asked about: the open ones, and as many that the conversation has used last. */
  maxDiagnosedFiles: 20,
  /**
   * UTF-16 units of an answer's texts: more than a thousand errors. It also bounds the items that are read: a hundred
   * thousand items of a wrong form would each cost a list of complaints.
   */
  maxDiagnosisChars: 256 * KIB,
  maxDiagnosisItems: 4_000,
  /** Different problems with what one companion sends that the log shows. */
  maxLoggedProblems: 10,
  /** Between two looks whether the owner has confirmed an editor, while a question waits for that. */
  confirmMs: 3 * SECOND,
  /** UTF-16 units of an editor's own words in the log. */
  maxWhyChars: 300,
  /** Confirmed companions that are kept. Each start of an editor needs a new one, so old ones are useless. */
  maxConfirmed: 32,
} as const;

/** The limits that tests shorten. */
export type LinkLimits = { readonly [Name in keyof typeof LINK_LIMITS]: number };
