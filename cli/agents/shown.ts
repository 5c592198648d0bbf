/** An agent as text. What models and repositories have written is made harmless first. Pure. */
import type { Agent, AgentInfo } from '../../shared/api/agents.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { printable, printableLine } from '../../shared/text/plain-sight.ts';

/** One line, with tabs between the fields. */
export function agentLine({ id, status, updated, title }: AgentInfo): string {
  return `${[id, status, updated, printableLine(title, REQUEST_LIMITS.maxNameChars)].join('\t')}\n`;
}

/** The agent with its last words and the difference that it has made. */
export function agentText(agent: Agent): string {
  return `${[agentLine(agent).trimEnd(), ...agentDetails(agent)].join('\n')}\n`;
}

/** What {@link agentText} has below its first line. */
export function agentDetails({ result, error, worktree, webhook }: Agent): string[] {
  const line = (text: string) => printableLine(text, REQUEST_LIMITS.maxMessageChars);
  const files = worktree?.files?.map(
    ({ status, path, added, removed }) =>
      `  ${status} ${line(path)} +${added ?? '?'} -${removed ?? '?'}`,
  );
  return [
    ...(webhook?.secret ? [`The webhook's secret, shown only now: ${webhook.secret}`] : []),
    ...(error ? [`${line(error.code)}: ${line(error.message)}`] : []),
    ...(error?.details ? [printable(error.details)] : []),
    ...(result === null ? [] : ['', printable(result)]),
    ...(worktree ? ['', `On the branch ${line(worktree.branch)}:`, ...(files ?? [])] : []),
    ...(worktree?.isClosing
      ? ['  The bridge has yet to report what the newest response changed.']
      : []),
    ...(worktree?.left ?? []).map((name) => `  in no commit: ${line(name)}`),
    ...(worktree?.committed === false && hasChanges(worktree)
      ? [`  Not committed: it is in ${line(worktree.path)} until you remove it.`]
      : []),
    ...(worktree?.diff ? ['', printable(worktree.diff)] : []),
  ];
}

function hasChanges({ files = [], omitted = 0, left = [] }: NonNullable<Agent['worktree']>) {
  return files.length + omitted + left.length > 0;
}
