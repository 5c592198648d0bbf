/** What a person is asked about, and the digest by which the journal knows it again. */
import { createHash } from 'node:crypto';
import { type ApprovalQuestion, canonicalJson, type Proposal } from '../../shared/approvals.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';

/** A question that has no nonce yet. */
export type ApprovalSubject = Pick<ApprovalQuestion, 'callId' | 'conversationId' | 'proposal'>;

/** The same for two questions that a person would be shown the same way in the same conversation. */
export function digestOf({ conversationId, proposal }: ApprovalSubject): string {
  return createHash('sha256').update(canonicalJson({ conversationId, proposal })).digest('hex');
}

/** Whether both would do the same. */
export function isSame(one: Proposal, other: Proposal): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** Whether a person can be asked about it: a larger one fits no row of the edge, and nobody reads it. */
export function isAskable(proposal: Proposal): boolean {
  return Buffer.byteLength(canonicalJson(proposal)) <= RUN_LIMITS.maxProposalBytes;
}
