/** What a look at the workspace is asked about the message of a run. */

import {
  type MessageContent,
  mentionsIn,
  type RequestContext,
  textOf,
} from '../../../shared/api/requests.ts';
import { FINDING_LIMITS, REQUEST_LIMITS } from '../../../shared/limits.ts';
import type { Mention } from '../../../shared/text/mentions.ts';
import type { MessageLook } from '../../../shared/wire/findings.ts';
import { ERRANDS } from '../store/errands.ts';
import type { AskedRequest, RunRequest } from '../store/rows.ts';

/** The mentions of the run's message. A model's message to a subagent mentions nothing: its calls look things up. */
export function mentionsOf({ type, messages }: AskedRequest): Mention[] {
  return ERRANDS[type].saidBy === 'person' ? mentionsIn(messages.at(-1)?.content ?? '') : [];
}

function namedIn(all: readonly Mention[]): Pick<MessageLook, 'mentions' | 'called'> {
  const called = all.find((mention) => mention.type === 'command');
  const mentions = all.filter((mention) => mention.type !== 'command');
  return { mentions, ...(called && { called }) };
}

/** The conversation that the look is for. */
export interface LookedFor {
  readonly conversationId: string;
  readonly isPrivate: boolean;
}

/** Undefined where a program has written the message. */
export function messageLookOf(
  { conversationId, isPrivate }: LookedFor,
  request: AskedRequest,
): MessageLook | undefined {
  if (ERRANDS[request.type].saidBy === 'program') return undefined;
  const shown = request.context && shownIn(request.context);
  const { workspacePath = '' } = request.context ?? {};
  const isBounded = workspacePath !== '' && workspacePath.length <= REQUEST_LIMITS.maxPathChars;
  return {
    conversationId,
    ...namedIn(mentionsOf(request)),
    ...searchOf(request, isPrivate),
    ...(request.worktree && { worktree: request.worktree }),
    ...(shown && { shown }),
    ...(isBounded && { workspacePath }),
  };
}

/** A model's words to a subagent name what it wants itself. The index is about the workspace, not about a worktree. */
function searchOf(
  { type, messages, mode, worktree }: AskedRequest,
  isPrivate: boolean,
): Pick<MessageLook, 'search'> {
  if (ERRANDS[type].saidBy !== 'person' || worktree) return {};
  const query = textOf(messages.at(-1)?.content ?? '').slice(0, FINDING_LIMITS.maxQueryChars);
  if (query.trim() === '') return {};
  return { search: { query, mode, ...(isPrivate && { isPrivate }) } };
}

/** What is asked about a message that steers a run in this place. Undefined for one that mentions nothing. */
export function steerLookOf(
  conversationId: string,
  content: MessageContent,
  { worktree }: Pick<RunRequest, 'worktree'>,
): MessageLook | undefined {
  const mentions = mentionsIn(content);
  if (mentions.length === 0) return undefined;
  const steer = { isSteer: true as const, ...(worktree && { worktree }) };
  return { conversationId, ...namedIn(mentions), ...steer };
}

/** Undefined where the request describes no editor. A path in another folder than the bridge's leads nowhere there. */
function shownIn(context: RequestContext) {
  const { cursor, selection, openFiles, recentFiles, workspacePath } = context;
  if (!cursor && !selection && !openFiles && !recentFiles) return undefined;
  const sent = new Set<string>();
  const places = [cursor, selection].filter((place) => place !== undefined);
  const named = places.map(({ path }) => path);
  for (const file of openFiles ?? []) {
    if (typeof file !== 'string' && file.content !== undefined) sent.add(file.path);
    else named.push(typeof file === 'string' ? file : file.path);
  }
  named.push(...(recentFiles ?? []));
  return [...new Set(named)]
    .filter((path) => !sent.has(path))
    .map((path) => {
      const line = places.find((place) => place.path === path)?.line;
      return {
        path: /^([\\/]|[A-Za-z]:)/.test(path) ? path : [workspacePath ?? '.', path].join('/'),
        ...(line !== undefined && { line }),
      };
    })
    .filter(({ path }) => path.length <= REQUEST_LIMITS.maxPathChars)
    .slice(0, FINDING_LIMITS.maxShownFiles);
}
