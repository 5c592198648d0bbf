/** The limits of the search for editors' companions, each with its reason. */
import { KIB, SECOND } from '../../../../shared/units.ts';

export const DISCOVERY_LIMITS = {
  /** A discovery as a whole. Without a stuck disk it takes milliseconds. */
  wholeMs: 6 * SECOND,
  /** Entries looked at in one folder. A temporary folder can hold far more, and each costs some microseconds. */
  maxEntries: 20_000,
  /** Discovery files that are read, the newest first: each editor window writes one or two. */
  maxFiles: 256,
  /** Bytes of a discovery file: a window with 64 folders of long paths. */
  maxFileBytes: 64 * KIB,
  /** UTF-16 units of a token: official ones are UUIDs, and a header has to hold it. */
  maxTokenChars: 1024,
  /** UTF-16 units of an editor's name in a line. */
  maxNameChars: 100,
  /** Sources that are listed as passed over: a flood of files must not flood a terminal. */
  maxPassedOver: 500,
  /** UTF-16 units of a folder's path: Linux has no longer ones. */
  maxPathChars: 4 * KIB,
  /** Folders of one editor window that are compared with the workspace. */
  maxRoots: 64,
  /** Parents of a process that are followed: shells, terminal multiplexers and wrappers nest some ten deep. */
  maxAncestors: 64,
  /** One `ps`. */
  psMs: 2 * SECOND,
  /** Bytes of a list of all processes: two numbers for each. */
  maxSnapshotBytes: 4 * KIB * KIB,
  /** A port of this machine answers at once. A container's host may be behind a network that drops packets. */
  listeningMs: 250,
  /** The name of a container's host. */
  lookupMs: SECOND,
  /** For each request of a try: a companion on this machine takes milliseconds, a frozen editor for ever. */
  probeMs: 2 * SECOND,
  /** UTF-16 units of an answer to a try: two tools with their schemas. */
  maxProbeChars: KIB * KIB,
} as const;
