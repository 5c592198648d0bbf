/** The limits of formatters, each with its reason. */
import { KIB, MIB, MINUTE, SECOND } from '../../../shared/units.ts';

export const FORMATTING_LIMITS = {
  /** Milliseconds that an edit waits for its formatter: a cold `npx prettier` takes 1 to 2 s. */
  maxHoldMs: 4 * SECOND,
  /** Runs in a row that were too late, after which none is started for `pauseMs`: each one held an edit. */
  maxLate: 3,
  pauseMs: MINUTE,
  /** Bytes of a text that is formatted: generated code is larger, and takes a formatter seconds. */
  maxTextBytes: MIB,
  /** Bytes of the formatted text: a formatter that breaks long lines writes a little more than it reads. */
  maxOutputBytes: 2 * MIB,
  /** Characters of a formatter's error output that say why it failed. */
  maxReasonChars: 300,
  /** Formatted texts that are remembered, for calls that are proposed again while a person thinks. */
  maxRemembered: 20,
  /** Bytes of the owner's list. */
  maxListBytes: 64 * KIB,
} as const;
