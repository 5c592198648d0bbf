/** The limits of ignore files. A file beyond them counts as one that cannot be read. */
import { KIB } from '../../../shared/units.ts';

export const IGNORED_LIMITS = {
  /** Bytes of one file: large ones have 10 KiB. */
  maxBytes: 64 * KIB,
  /** Rules of one file, and their `*`: each name of the workspace is compared with each of them. */
  maxRules: 2_000,
  maxStars: 2_000,
  /** Milliseconds for which a search believes what it knows of the ignore files: it decides on thousands of names. */
  maxAgeMs: 250,
  /** Folders whose ignore files are remembered: those of a large project. */
  maxFolders: 20_000,
} as const;
