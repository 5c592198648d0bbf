/** The limits of what is known of folders and files without reading them again. */

export const TREE_LIMITS = {
  /**
   * What changed less than this many milliseconds before it was read is read again. A file system's clock moves in
   * steps, and a second change within one step shows in no time stamp. The coarsest steps are those of ext3 and NFS.
   */
  settledMs: 1_000,
  /** The same for contents of files, which are many and large: the coarsest steps of local disks have 10 ms. */
  contentSettledMs: 20,
} as const;
