/** What a person is asked about: the call as it would run, and the digest by which the journal knows it again. */
import { createHash } from 'node:crypto';
import { type ApprovalQuestion, canonicalJson, type Proposal } from '../../shared/approvals.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';
import { renameArguments, type ToolDefinition } from '../../shared/tools/definition.ts';
import type { ToolCall } from '../../shared/tunnel.ts';

/** A question that has no nonce yet. */
export type ApprovalSubject = Pick<ApprovalQuestion, 'callId' | 'conversationId' | 'proposal'>;

/** The call under the names and in the form in which the tool takes its arguments: what is shown is what runs. */
export function proposeCall(call: ToolCall, tool: ToolDefinition): ApprovalSubject {
  const { callId, conversationId } = call;
  const parsed = tool.arguments.safeParse(renameArguments(tool, call.arguments));
  const args = parsed.success ? parsed.data : call.arguments;
  return { callId, conversationId, proposal: { kind: 'call', tool: tool.name, arguments: args } };
}

/** The same for two questions that a person would be shown the same way in the same conversation. */
export function digestOf({ conversationId, proposal }: ApprovalSubject): string {
  return createHash('sha256').update(canonicalJson({ conversationId, proposal })).digest('hex');
}

/** Whether a person can be asked about it: a larger one fits no row of the edge, and nobody reads it. */
export function isAskable(proposal: Proposal): boolean {
  return Buffer.byteLength(canonicalJson(proposal)) <= RUN_LIMITS.maxProposalBytes;
}
