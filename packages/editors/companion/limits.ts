/** The limits of the companion, each with its reason. */
import { KIB, MIB, SECOND } from '../../../shared/units.ts';

export const COMPANION_LIMITS = {
  /** Bytes of one request: a proposed file of some 10 MB, twice as long once it is JSON. */
  maxBodyBytes: 32 * MIB,
  /** Bytes of all requests that are read at the same time: two of the largest, as CLIs send one after the other. */
  maxReadingBytes: 64 * MIB,
  /** Bytes that wait for a client that does not read: the longest accepted file, and what comes after it. */
  maxUnreadBytes: 64 * MIB,
  /** For a whole request to arrive. */
  requestMs: 60 * SECOND,
  /** Open connections: a session keeps one, and opens one for each request. */
  maxConnections: 128,
  /** Sessions: one for each running CLI. */
  maxSessions: 16,
  /** Open diffs of one session: the known CLIs open one at a time. */
  maxDiffs: 16,
  /** UTF-16 units of their content together: one file of more than 10 MB. The bridge keeps each in several forms. */
  maxDiffChars: 16 * MIB,
  /**
   * A session without an event stream, after its last request. The known CLIs open a cut stream again within 3 s. A
   * session that is dropped takes its questions to a person with it.
   */
  streamlessMs: 30 * SECOND,
  /** Between two signs of life on a stream: the known CLIs give up after 300 s of silence. */
  pingMs: 30 * SECOND,
  /** From a change in the editor to the update, so that typing makes one update. */
  contextDelayMs: 50,
  /** What the known CLIs keep of a context: files, and UTF-16 units of the selection. */
  maxOpenFiles: 10,
  maxSelectionChars: 16 * KIB,
  /** Errors and warnings of one file: a client shows its model fewer. */
  maxDiagnostics: 200,
  /** For a diff's view to say what a person has changed in it, once the CLI closes it. */
  closeDiffMs: SECOND,
  /** UTF-16 units of a program's name. */
  maxProgramChars: 100,
  /** Between two looks whether a discovery file was deleted. */
  keepFilesMs: 2 * SECOND,
} as const;
