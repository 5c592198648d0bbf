/** The limits of a look at the workspace, each with its reason. */
import { KIB, MIB } from '../../shared/units.ts';

/** Bounds of looks at a folder, and of what they read. */
export const FOLDER_LIMITS = {
  /**
   * The first look at a workspace, in milliseconds: two million entries on a slow disk. After that every command asks.
   */
  firstScanMs: 20_000,
  /** A later look, in milliseconds. It reads only the folders that changed. */
  scanMs: 2_000,
  /** Milliseconds of a look that is not repeated for each change of a file: warm looks take 5 ms in 50,000 entries. */
  slowScanMs: 500,
  /** Bytes of a path that can be mounted on: the kernel takes 4,095, and prefixes like `/proc/PID/root` need room. */
  maxPathBytes: 3_500,
  /**
   * Entries of one folder that ignore files may close one by one; with more the folder is closed as a whole. The second
   * number holds in a workspace that would have too many closed paths with the first.
   */
  maxIgnoredEntries: [30, 5],
  /**
   * Links that are followed because their name is protected, and entries of a place they lead to that are looked at for
   * further links. Both happen before each change of a file: 2,000 entries take 5 ms.
   */
  maxProtectedLinks: 500,
  maxLinkedEntries: 2_000,
  /** Bytes of a repository's settings, which usually have some hundred. */
  maxConfigBytes: 256 * KIB,
  /** Bytes of git's index that are read for tracked secrets: that of half a million files. Git alone reads a larger one. */
  maxIndexBytes: 64 * MIB,
  /** Bytes of all names in an index, which may be kept short in the file: 500,000 names have 40 MB. */
  maxIndexNameBytes: 64 * MIB,
  /** Bytes of one name: `PATH_MAX` of Linux, beyond which git has no files. */
  maxIndexNameLength: 4_096,
} as const;
