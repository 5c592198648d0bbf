/** What a person is asked about, and the digest by which the journal recognizes it. */
import { sha256 } from '../../machine/hash.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';
import { canonicalJson } from '../../shared/wire/approval-text.ts';
import type { ApprovalQuestion, Proposal } from '../../shared/wire/approvals.ts';

/** A question without its nonce. */
export type ApprovalSubject = Pick<ApprovalQuestion, 'callId' | 'conversationId' | 'proposal'>;

/** Two questions of one conversation have the same digest when a person would see the same text. */
export function digestOf({ conversationId, proposal }: ApprovalSubject): string {
  return sha256(canonicalJson({ conversationId, proposal }));
}

/** Whether both proposals would do the same. */
export function isSame(one: Proposal, other: Proposal): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/**
 * Whether a person can be asked about the proposal. A larger one fits no row of the edge, and people do not read it.
 */
export function isAskable(proposal: Proposal): boolean {
  return Buffer.byteLength(canonicalJson(proposal)) <= RUN_LIMITS.maxProposalBytes;
}
