/** The limits of the sandbox, each with its reason. */
import { KIB, MIB } from '../../shared/units.ts';

/** Bounds of sandboxed commands, and of what is prepared for them. */
export const SANDBOX_LIMITS = {
  /** Bytes of a path in a rule of Seatbelt, which takes texts of 1,025 and refuses the whole profile for a longer one. */
  maxRulePathBytes: 900,
  /** Closed paths that a workspace may have when the bridge begins: a base with 300 takes 0.2 s, entering it 40 ms. */
  maxFirstMounts: 300,
  /** Closed paths in all. The difference is room for paths that appear later. */
  maxMounts: 400,
  /** Attempts to make a base while programs outside the sandbox change the workspace. */
  baseAttempts: 4,
  /** Milliseconds until a base is ready: it takes 20 to 250 ms on an idle machine. */
  baseMs: 10_000,
  /**
   * Conversations whose commands share namespaces at a time, each for two processes that wait (2 MB) and some
   * descriptors: those of a day.
   */
  maxConversations: 64,
  /** Milliseconds between two looks at whether the processes of an ended command have gone. */
  endPollMs: 1,
  /** Milliseconds until a network has a door: a Node starts for it, in 50 ms on an idle machine. */
  doorMs: 15_000,
  /** The same for a port that a person opens: their client waits 8 s for the answer. */
  dialMs: 5_000,
  /** KiB of a workspace's package caches when its bridge starts: two large projects in three languages. */
  maxCacheKib: 4 * MIB,
  /** Milliseconds for measuring them: a cold disk reads 100,000 entries in that time. */
  measureMs: 10_000,
  /** Milliseconds until every sandboxed process is stopped. It usually takes a few, and 100 against a storm of forks. */
  freezeMs: 5_000,
  /** Processes and threads of one sandbox: parallel builds use some hundred, a fork bomb any number. */
  maxProcesses: 1_024,
  /** KiB of data one process may have: compilers need one or two GiB, and most machines have more than four. */
  maxDataKib: 4 * MIB,
  /** Share of the bridge's memory for all commands together, where the system lets us limit it. */
  memoryShare: 0.75,
  /** Bytes that commands may write to `/tmp` and to `/var/tmp` (each), and to shared memory. */
  tmpBytes: 1024 * MIB,
  sharedMemoryBytes: 256 * MIB,
  /** Bytes of a folder that hides another: it holds nothing. */
  hiddenBytes: 4 * KIB,
  /**
   * Tracked files in all closed folders together that git sees as they were: 2,000 take 0.4 s. Git sees a folder for
   * which there is no more room as unreadable.
   */
  maxMaskedFiles: 2_000,
  /** Length of the names in a note to the model, in UTF-16 units. */
  maxNoteChars: 400,
  /** Length of a program's error message, in UTF-16 units. */
  maxComplaintChars: 4_096,
  /** Milliseconds for a program that answers a question of ours, for example its version. */
  probeMs: 10_000,
} as const;
