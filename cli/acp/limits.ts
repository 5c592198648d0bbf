/** The limits of the Agent Client Protocol's door. */
import { KIB, SECOND } from '../../shared/units.ts';

export const ACP_LIMITS = {
  /** UTF-16 units shown of what a call returned or a command has printed: editors get all of it again at each change. */
  shownChars: 16 * KIB,
  /** Between two looks at a command's output while it grows, for the same reason. */
  outputMs: SECOND / 4,
} as const;
