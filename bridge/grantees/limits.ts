/** The limits of what the owner lets others do, and of the record of it. */
import { MIB, SECOND } from '../../shared/units.ts';

export const GRANTEE_LIMITS = {
  /** Between two looks at the file of grants. Calls read it anew; a look ends what runs when a grant is over. */
  watchMs: SECOND,
  /** Conversations whose account is kept. Each call of a conversation keeps it again. */
  maxConversations: 10_000,
  /** Bytes of the record before it is put aside, in place of the one that was put aside before: some 7,000 calls. */
  maxAuditBytes: 2 * MIB,
  /** UTF-16 units of a call's subject in the record: a path, or the beginning of a command. */
  maxSubjectChars: 200,
} as const;
