/** The limits of hooks, each with its reason. */
import { KIB, MIB, SECOND } from '../../shared/units.ts';

export const HOOK_LIMITS = {
  /** Milliseconds that a call waits for a hook that names no time, and at most: its person waits as long. */
  defaultMs: 10 * SECOND,
  maxMs: 30 * SECOND,
  /** Bytes that a hook may print: a verdict has some hundred. */
  maxOutputBytes: 64 * KIB,
  /** Characters of its reason, which the person and the model read. */
  maxReasonChars: 500,
  /** Hooks of one workspace with those of its owner. */
  maxHooks: 50,
  maxCommandChars: 2_000,
  maxMatcherChars: 200,
  /** Bytes of a file with hooks, and of a script that a hook names. */
  maxFileBytes: MIB,
  /** Files that one command may name. */
  maxFiles: 8,
  /** UTF-16 units that a hook reads of a file's new content. */
  maxInputChars: 256 * KIB,
} as const;
