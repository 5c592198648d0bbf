import { KIB } from '../../shared/units.ts';

/** Reading rule files. What is kept of them has the limits in RULE_FILE_LIMITS. */
export const RULE_READ_LIMITS = {
  /** Rule files that are read: some are the same as others, or empty. */
  maxCandidates: 400,
  /** Bytes of a file that is read for a rule. A larger one is no rule that a person wrote. */
  maxFileBytes: 256 * KIB,
  /** Files that one rule includes by `@file`, and how deep they may include others. */
  maxReferences: 20,
  maxReferenceDepth: 3,
  /** Names that all rules together may include or mention: each is looked up on the disk. */
  maxIncluded: 500,
  /** Folders below `.cursor/rules` that are looked into, and how deep. */
  maxFolders: 100,
  maxFolderDepth: 5,
} as const;
