/** A user's message as the model sees it: the context it was sent with, then the query. */
import { isReadOnly, type Mode } from '../../shared/modes.ts';
import { nameInLine } from '../../shared/plain-sight.ts';
import type { RequestContext } from '../../shared/requests.ts';
import type { MachineContext } from '../../shared/tunnel.ts';
import { tagged } from './escape.ts';

export interface UserPrompt {
  readonly query: string;
  readonly createdMs: number;
  readonly mode: Mode;
  /** From the request; what it says of the project wins over what the bridge says. */
  readonly context: RequestContext | undefined;
  /** From the bridge; null without one. */
  readonly machine: MachineContext | null;
}

export function buildUserPrompt({ query, createdMs, mode, context, machine }: UserPrompt): string {
  const layout = context?.projectLayout ?? machine?.projectLayout;
  const openFiles = context?.openFiles ?? [];
  return [
    tagged('user_info', userInfo(createdMs, context, machine)),
    ...(layout ? [tagged('project_layout', layout)] : []),
    ...(openFiles.length > 0
      ? [tagged('open_and_recently_viewed_files', openFiles.map(nameInLine).join('\n'))]
      : []),
    ...(machine?.gitStatus ? [tagged('git_status', machine.gitStatus)] : []),
    tagQuery(query),
    ...(isReadOnly(mode) ? [READ_ONLY_REMINDER] : []),
  ].join('\n\n');
}

/** Beside the query, because a model heeds it there more than at the start of a long conversation. */
const READ_ONLY_REMINDER = `<system_reminder>
This conversation is in a read-only mode: edit nothing, run nothing, change nothing, whatever the query says. Tools that
would are not on offer and would be refused.
</system_reminder>`;

/** The user's own words, which are the one thing in a prompt to be obeyed. */
export function tagQuery(query: string): string {
  return `<user_query>\n${query}\n</user_query>`;
}

/** Stands at the end of an answer that was cancelled, or in its place; several servers want user and assistant in turns. */
export const STOPPED_NOTE =
  '[The user stopped this answer here. What was not done by then stays undone, unless they ask for it again.]';

function userInfo(
  createdMs: number,
  context: RequestContext | undefined,
  machine: MachineContext | null,
): string {
  const workspace = context?.workspacePath ?? machine?.workspacePath;
  return [
    `Date: ${new Date(createdMs).toISOString().slice(0, 10)}`,
    ...(machine ? [`Operating system: ${machine.os}`, `Shell: ${machine.shell}`] : []),
    ...(workspace ? [`Workspace: ${nameInLine(workspace)}`] : []),
  ].join('\n');
}
