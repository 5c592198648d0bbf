/** The results of calls that were not carried out. */
import type { Resolution } from '../../packages/host/index.ts';
import { RUN_LIMITS } from '../../shared/limits.ts';
import { failure, type ToolResult } from '../../shared/wire/tunnel.ts';
import type { JournalUnwritable } from './book.ts';

export const UNKNOWN_OUTCOME = failure(
  'UNKNOWN_OUTCOME',
  'The bridge was restarted while this call ran. It may or may not have had its effect: ' +
    'check the state of things before you repeat it.',
);

export const TOO_LARGE = failure(
  'PROPOSAL_TOO_LARGE',
  `A person must allow this call, and it is too large to be shown to one: ${RUN_LIMITS.maxProposalBytes} bytes at most. Make several small calls of it.`,
);

/** For a call that changes no file itself, and whose path led to another place when the person was asked. */
export const PATH_CHANGED = failure(
  'DENIED',
  'The path of this call led to another place when the person was asked, so it was not run: make the call again.',
);

/** The next call of the same command is judged anew, and asks. */
export const DELETES_OTHERS = failure(
  'STALE',
  'A file that this command deletes was changed just before it began, and undo could not bring it back, so it was not run: make the call again.',
);

export function denied(reason: string): ToolResult {
  return failure('DENIED', `Not allowed on this machine: ${reason}`);
}

/** For a call of another account than the owner's: no one there may say yes for this machine. */
export function unasked(reason: string): ToolResult {
  return denied(
    `it needs a yes of the owner, who is not asked about what other accounts want. ${reason}`,
  );
}

/** The result for a question without a yes. */
export function notAllowed({ decision, message }: Resolution): ToolResult {
  if (decision !== 'reject') return failure('NOT_APPROVED', 'No one answered in time.');
  const said = message === undefined ? '' : ` They said: ${message}`;
  return failure('REJECTED', `The person rejected this call.${said}`);
}

export function unwritable({ message }: JournalUnwritable): ToolResult {
  return failure(
    'STATE_UNWRITABLE',
    `The bridge could not note on its disk that it runs this call (${message}), so it was not run. The person must make ` +
      'room for the state of the bridge, or make it writable. Until then only calls that read are run.',
  );
}
