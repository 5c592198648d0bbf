/** An agent as clients see it. Pure. */
import type { Agent } from '../../shared/api/agents.ts';
import { ClosedWorktree, OpenedWorktree } from '../../shared/tools/worktree.ts';
import type { ChatResponse, Document } from '../../shared/wire/documents.ts';
import type { AgentWebhook, ConversationRow, WorktreeClosing } from '../conversation/store/rows.ts';
import type { StoredResult } from '../conversation/store/turn-statements.ts';

/** The fields that come from the conversation and its newest response. */
export function viewOf(
  { id, title, created, bridge: bridgeId }: ConversationRow,
  response: ChatResponse,
): Omit<Agent, 'status' | 'updated' | 'tools'> {
  const { id: responseId, model, mode, ownMode, usage } = response;
  const fields = { id, title, created, bridgeId, responseId, model, mode, usage };
  return { ...fields, ...(ownMode !== undefined && { ownMode }), ...outcomeOf(response) };
}

/** What the model said last, and why it failed. */
function outcomeOf({ status, documents }: ChatResponse): Pick<Agent, 'result' | 'error'> {
  if (status !== 'completed' && status !== 'error' && status !== 'cancelled') {
    return { result: null };
  }
  const said = documents.findLast(
    ({ type, metadata }) => type === 'text' && metadata['interrupted'] !== true,
  );
  const result = said?.content?.slice(0, MAX_RESULT_CHARS).toWellFormed() ?? null;
  const failure = status === 'error' ? documents.findLast(({ type }) => type === 'error') : null;
  if (!failure) return { result };
  return { result, error: failureOf(failure) };
}

function failureOf({ content, metadata }: Document): Agent['error'] {
  const { errorCode, details } = metadata;
  const failure = { code: String(errorCode), message: content ?? '' };
  if (typeof details !== 'string') return failure;
  return { ...failure, details: details.slice(0, MAX_RESULT_CHARS).toWellFormed() };
}

/** What the newest calls that opened and closed the worktree reported, the newest first. */
export function worktreeOf(
  results: Iterable<StoredResult>,
  closing: WorktreeClosing | undefined,
): Pick<Agent, 'worktree'> {
  let opened: OpenedWorktree | undefined;
  let closed = closing?.closed ?? undefined;
  for (const { result } of results) {
    const { metadata } = result;
    opened ??= OpenedWorktree.safeParse(metadata).data;
    closed ??= ClosedWorktree.safeParse(metadata).data;
    if (opened && closed) break;
  }
  if (!opened) return {};
  const isClosing = closing !== undefined && closing.closed === undefined;
  return { worktree: { ...opened, ...closed, ...(isClosing && { isClosing }) } };
}

export function shownWebhook(
  { url, secret, isGone }: AgentWebhook,
  withSecret: boolean,
): Agent['webhook'] {
  return { url, state: isGone ? 'gone' : 'active', ...(withSecret && { secret }) };
}

/** UTF-16 units of the model's last words: a report of several pages. */
const MAX_RESULT_CHARS = 20_000;
