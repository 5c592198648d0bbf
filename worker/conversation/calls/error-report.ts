/** Describes a failed call for people: the tool's own answer is written for the model. Pure. */
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import type { ErrorReport } from '../tape/error-document.ts';

/** `source` is the tool's name. */
export function reportOfCall(
  source: string,
  { code, data }: Extract<ToolResult, { status: 'error' }>,
): ErrorReport {
  const message = Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : undefined;
  return { code, source, message: message ?? `${source} failed.`, details: data };
}

/** A code without a sentence here is explained by the details. */
const SENTENCES: Readonly<Record<string, string>> = {
  // Problems with the call's subject.
  FILE_NOT_FOUND: 'There is no such file.',
  FILE_TOO_LARGE: 'The file is too large.',
  BINARY_FILE: 'The file is not text.',
  OTHER_ENCODING: 'The text of the file is in an encoding that cannot be edited.',
  NOT_A_FILE: 'The path is not a regular file.',
  NOT_A_FOLDER: 'The path is not a folder.',
  FILE_EXISTS: 'A file of that name exists already.',
  HARD_LINK: 'The file has several names, so it was not changed.',
  INVALID_PATH: 'The path is not valid.',
  NOT_FOUND_IN_FILE: 'The text to be replaced is not in the file.',
  AMBIGUOUS: 'The edit fits in more than one place of the file.',
  READ_FIRST: 'The file was not read before the edit.',
  STALE: 'The file has changed since it was read, so nothing was done.',
  TOO_MUCH_DELETED: 'The edit would have deleted most of the file, so nothing was done.',
  PATH_CHANGED: 'A folder was replaced while the call was running, so nothing was done.',
  DISK_FULL: 'The disk is full.',
  TOO_COMPLEX: 'The call was too much to compute.',
  // Calls that are not allowed.
  OUTSIDE_WORKSPACE: 'The path leads outside the workspace.',
  SECRET_PATH: 'The file may hold secrets, so tools do not touch it.',
  PROTECTED_PATH: 'The file configures other programs, so tools do not change it.',
  PATH_NOT_ALLOWED: 'The request does not allow this path.',
  NOT_PERMITTED: 'The system does not permit it.',
  DENIED: 'The rules of the machine forbid this call.',
  NOT_GRANTED: 'The owner of the machine does not let this account use it.',
  WORKTREE_REQUIRED: 'The owner of the machine lets this account work in a worktree alone.',
  REJECTED: 'The call was rejected.',
  NOT_APPROVED: 'The call was not approved in time.',
  REPEATED_CALL: 'The model made the same call again and again, so it was not run.',
  READ_ONLY_MODE: 'This mode changes nothing, so the call was not run.',
  WRONG_MODE: 'The tool is not for this mode.',
  UNKNOWN_MODE: 'There is no such mode.',
  TOOL_NOT_OFFERED: 'The request does not offer this tool.',
  PROPOSAL_TOO_LARGE: 'The call is too large to be shown to a person, so it was not run.',
  // Worktrees.
  NOT_A_REPOSITORY: 'The workspace is in no git repository.',
  BASE_NOT_FOUND: 'The repository has no such commit, branch or tag.',
  BRANCH_TAKEN: 'The branch exists, or has been changed meanwhile.',
  SETUP_FAILED: 'The setup of the worktree failed.',
  WORKTREE_FAILED: 'The worktree could not be made or read.',
  NESTED_REPOSITORY: 'The path is in a repository inside the worktree, so it was not changed.',
  WORKTREE_GONE: 'The worktree is not there any more.',
  // Calls that could not run or finish.
  TOOL_CHANGED: 'The tool has changed on its server since the run began.',
  UNKNOWN_TOOL: 'There is no such tool.',
  INVALID_ARGUMENTS: 'The tool does not take these arguments.',
  NO_BRIDGE: 'No attached machine has this tool.',
  BRIDGE_OFFLINE: 'The machine is not connected.',
  DEADLINE_PASSED: 'The machine gave no result in time.',
  UNKNOWN_OUTCOME: 'The call was interrupted: whether it had any effect is unknown.',
  STATE_UNWRITABLE: 'The bridge cannot write its state, so the call was not run.',
  TIMEOUT: 'The command was ended at its time limit.',
  NOT_STARTED: 'The command could not be started.',
  NOT_ANSWERED: 'The questions were not answered in time.',
  CANCELLED: 'The call was cancelled.',
};
