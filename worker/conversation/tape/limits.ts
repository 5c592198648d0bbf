/** The limits of the tape. */
import { KIB, SECOND } from '../../../shared/units.ts';

/** The tape and its readers. */
export const TAPE_LIMITS = {
  /** Positions that a new instance leaves free before its first append: more than uncommitted events can ever take. */
  jump: 2 ** 20,
  /** UTF-16 units of uncommitted events that force a commit. */
  commitChars: 32 * KIB,
  /** The longest time that streamed events stay uncommitted; a crash takes them back. Each commit is one billed row. */
  commitMs: 2 * SECOND,
  /** UTF-16 units of one stored row, below the platform's 2 MB per row even where JSON escapes each in six bytes. */
  maxRowChars: 300_000,
} as const;
