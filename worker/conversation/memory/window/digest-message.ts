/** The message that gives the model the digest. Pure. */

import type { UpstreamMessage } from '../../../../packages/model/index.ts';
import {
  buildDigestPrompt,
  formatTodos,
  renderSurroundings,
  surroundingsOf,
  type UserPrompt,
} from '../../../../packages/prompt/index.ts';
import { NOTHING_FOUND } from '../../../../shared/wire/findings.ts';
import type { Digest, NewWindow } from '../../store/rows.ts';
import { WINDOW_LIMITS } from './limits.ts';
import { cutTagged } from './text.ts';
import type { SentRun } from './transcript.ts';

/** Empty without a digest. The message stays the same as long as the window: what was sent may not change. */
export function digestMessages(
  window: Pick<NewWindow, 'digest' | 'from'> | null,
  run: SentRun | undefined,
  room: number,
): UpstreamMessage[] {
  if (!window?.digest) return [];
  const { summary, words, plan, todos, skills = [] } = window.digest;
  const isUnderWay = window.from.turns > 0 && window.from.run === run?.ordinal;
  const content = buildDigestPrompt({
    summary,
    words,
    plan,
    skills,
    todos: listOf(todos, room),
    underWay: isUnderWay ? sentWith(run, room) : null,
  });
  return [{ role: 'user', content }];
}

function listOf(todos: Digest['todos'], room: number): string | null {
  return todos.length === 0 ? null : cutTagged(formatTodos(todos), room * WINDOW_LIMITS.todos);
}

/** What the run's message shows, without the tree, git and the editor: the next message has those again. */
function sentWith(run: SentRun, room: number): Omit<UserPrompt, 'query'> {
  const { createdMs, mode, context } = run.request;
  const workspacePath = context?.workspacePath;
  const left = { projectLayout: '', gitStatus: '', editor: undefined };
  const machine = run.machine && { ...run.machine.context, ...left };
  const { client } = run.machine?.findings ?? {};
  const findings = client && { ...NOTHING_FOUND, client };
  const asked = workspacePath ? { workspacePath } : undefined;
  const sources = { createdMs, machine, context: asked, findings };
  return { mode, around: renderSurroundings(surroundingsOf(sources, room), null) };
}
