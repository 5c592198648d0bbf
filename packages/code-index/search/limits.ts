import { KIB, MIB, SECOND } from '../../../shared/units.ts';

/** The limits of searches, of lists of files, and of the ignore files that both read. */
export const SEARCH_LIMITS = {
  /** Files listed for a file search or a count, and UTF-16 units of their paths: memory holds them easily. */
  maxListedFiles: 200_000,
  maxListedChars: 32 * MIB,
  /** The time of a search process. */
  searchTimeoutMs: 30 * SECOND,
  /** Bytes of one record of a search process's output. Of a longer one only the beginning is kept, with a file's name. */
  maxSearchRecordBytes: 4 * MIB,
  maxRecordHeadBytes: 32 * KIB,
  /** Bytes of ignore rules, in one file and in a folder's files; and the number of files. Large ones have 10 KB. */
  maxIgnoreBytes: MIB,
  maxIgnoreFiles: 1_000,
  /** Folders whose ignore files the next search expects: those of several projects. */
  maxIgnoreFolders: 64,
} as const;
