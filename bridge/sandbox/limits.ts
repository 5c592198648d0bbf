/** The limits of the sandbox, each with its reason. */

const KIB = 1024;
const MIB = 1024 * KIB;

export const SANDBOX_LIMITS = {
  /** The first look at a workspace, in milliseconds: two million entries on a slow disk. Past it every command asks. */
  firstScanMs: 20_000,
  /** A later look: it reads only the folders that changed. */
  scanMs: 2_000,
  /** How long a look holds the event loop at a time. */
  scanSliceMs: 10,
  /**
   * A folder that changed less than this before it was read is read again: the clock of a file system moves in steps,
   * and a change within the same step shows in no time stamp. The coarsest steps in use are those of ext3 and NFS.
   */
  settledMs: 1_000,
  /** Bytes of a path that can be mounted on: the kernel takes 4,095, and prefixes such as `/proc/PID/root` need room. */
  maxPathBytes: 3_500,
  /** Closed paths that a workspace may have when the bridge begins: a base of so many takes 0.2 s, entering it 40 ms. */
  maxFirstMounts: 300,
  /** Those and what comes later: there is always room for something new. */
  maxMounts: 400,
  /** Attempts to make a base while programs outside the sandbox change the workspace. */
  baseAttempts: 4,
  /** Until a base is ready: it takes 20 to 250 ms on an idle machine. */
  baseMs: 10_000,
  /** Until every process of the sandboxes is stopped: milliseconds, a tenth of a second against a storm of forks. */
  freezeMs: 5_000,
  /** Processes and threads of one sandbox: parallel builds use some hundred, a fork bomb any number. */
  maxProcesses: 1_024,
  /** KiB of data one process may have: compilers need one or two GiB, and most machines have more than four. */
  maxDataKib: 4 * MIB,
  /** Of the memory that the bridge may have, for all commands together: where the system lets us bound it. */
  memoryShare: 0.75,
  /** Bytes that commands may write to `/tmp` and `/var/tmp`, each of its own, and to shared memory. */
  tmpBytes: 1024 * MIB,
  sharedMemoryBytes: 256 * MIB,
  /** A folder that hides another holds nothing. */
  hiddenBytes: 4 * KIB,
  /** Of the names in a note to the model, in UTF-16 units. */
  maxNoteChars: 400,
  /** Of what a program complained of, in UTF-16 units. */
  maxComplaintChars: 4_096,
  /** A program that answers a question of ours, such as its version. */
  probeMs: 10_000,
} as const;
