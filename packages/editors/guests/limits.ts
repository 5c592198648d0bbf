/** The limits of the companion's host and of its guests' changes, each with its reason. */
import { SECOND } from '../../../shared/units.ts';

export const GUEST_LIMITS = {
  /** Between two looks at the owner's setting. */
  watchMs: 2 * SECOND,
  /**
   * For a CLI to write a file after a person has answered it there, and between two looks at the file. The known CLIs
   * write at once.
   */
  writeMs: 5 * SECOND,
  lookMs: SECOND / 10,
  /** Changes that CLIs were answered about themselves, while their calls are still under way. */
  maxClosed: 32,
} as const;
