/** The order of a proposal's lines where a person scrolls through them. */

import type { Proposal } from '../wire/approvals.ts';
import { describeProposal } from './proposal.ts';

/** A proposal's lines, the command last: it can be long enough to push everything else out of sight. */
export function withCommandLast(proposal: Proposal): readonly string[] {
  const lines = describeProposal(proposal);
  if (proposal.kind !== 'command') return lines;
  // Further lines of the command are indented deeper: none of them looks like this one.
  const limits = lines.findIndex((line) => line.startsWith('  folder: '));
  return [...lines.slice(limits), ...lines.slice(0, limits)];
}
