/** What a person is asked about, without the secrets of files. */
import type { Proposal } from '../../shared/wire/approvals.ts';
import { maskValue } from '../secrets/filter.ts';

/**
 * A command and the arguments of a call stay as they are: they came from the edge, and a yes is for exactly them. The
 * lines of a file's change are masked. The hashes beside them name the exact bytes, and are signed as well.
 */
export function shownProposal(proposal: Proposal): Proposal {
  return proposal.kind === 'edit' ? { ...proposal, diff: maskValue(proposal.diff) } : proposal;
}
