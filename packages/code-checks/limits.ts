/** The limits of language servers, each with its reason. */
import { KIB, MIB, MINUTE, SECOND } from '../../shared/units.ts';

export const DIAGNOSTICS_LIMITS = {
  /** Milliseconds that an edit waits for its check: a cold TypeScript 7 takes 0.5 s, pyright 2 s. */
  maxHoldMs: 3 * SECOND,
  /** Milliseconds that read_lints waits: it has nothing else to show. */
  maxReadMs: 20 * SECOND,
  /** Milliseconds that the context of a message waits for all files, as it does for an editor. */
  maxMessageHoldMs: 150,
  /** Milliseconds in which a server that has started may still say that it can be asked, as pyright does. */
  registrationMs: 300,
  /** Milliseconds without a further report, after which a report that names no version counts as the last one. */
  quietMs: 250,
  /** Milliseconds without a check until a server ends, because it may hold hundreds of megabytes. */
  idleMs: 5 * MINUTE,
  /** Checks in a row without an answer in time, after which a server ends. */
  maxTimeouts: 3,
  /** Milliseconds until a server that could not run is started again: somebody may have installed it. */
  retryMs: MINUTE,
  /** Bytes of one message: the errors of a large file. Parsing it holds the event loop for 20 ms. */
  maxMessageBytes: 2 * MIB,
  /** Bytes of the lines before a message. */
  maxHeaderBytes: 4 * KIB,
  /** Bytes that may wait for a server that does not read. */
  maxUnreadBytes: 16 * MIB,
  /** Bytes of a text that is checked: generated code is larger, and takes a server seconds. */
  maxTextBytes: MIB,
  /** Characters of a server's error output that are kept to say why it ended. */
  maxStderrChars: 400,
  /** Findings that read_lints shows of one file. */
  maxFindings: 50,
  /** New errors that an edit reports, and the UTF-16 units of one message: servers quote whole types. */
  maxNewErrors: 20,
  maxMessageChars: 500,
  /** Files that import the edited one and are checked with it: TypeScript takes 2 to 7 ms for each. */
  maxImporters: 5,
  /** Milliseconds from the beginning of a check until it waits for no more of them: nearly every edit has a check. */
  maxImportersMs: 120,
  /** Edits of one file in a row that are refused for new errors: a change of several files passes through errors. */
  maxRefusals: 2,
  /** Checked edits that are remembered. Each has some hundred bytes. */
  maxRemembered: 500,
  /** Source files of a project whose changes servers learn of: a look at 3,000 takes 30 ms, and each check takes one. */
  maxWatchedFiles: 10_000,
  /** Bytes of the owner's list. */
  maxListBytes: 64 * KIB,
} as const;
