import { KIB } from '../../shared/units.ts';

/** Finding and reading skills. What is kept of them has the limits in SKILL_LIMITS. */
export const SKILL_READ_LIMITS = {
  /** Files that are read. */
  maxCandidates: 400,
  /** The text of an activated skill: what one message may attach. 5,000 tokens are advised at most. */
  maxTextChars: 24 * KIB,
  /** Folders that are looked into in one place, and how deep. */
  maxFolders: 300,
  maxDepth: 4,
  /** Files of a skill's folder that its text names. */
  maxFiles: 40,
} as const;
