/** An agent as clients see it. Pure. */
import type { Agent } from '../../shared/agents.ts';
import type { ChatResponse, Document } from '../../shared/documents.ts';
import { ClosedWorktree, OpenedWorktree } from '../../shared/tools/worktree.ts';
import type { AgentWebhook, ConversationRow, ToldResult } from '../conversation/store/rows.ts';
import { VIEW_LIMITS } from './limits.ts';

/** The fields that come from the conversation and its newest response. */
export function viewOf(
  { id, title, created, bridge: bridgeId }: ConversationRow,
  response: ChatResponse,
): Omit<Agent, 'status' | 'updated'> {
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
  const result = said?.content?.slice(0, VIEW_LIMITS.maxResultChars).toWellFormed() ?? null;
  const failure = status === 'error' ? documents.findLast(({ type }) => type === 'error') : null;
  if (!failure) return { result };
  return { result, error: failureOf(failure) };
}

function failureOf({ content, metadata }: Document): Agent['error'] {
  const { errorCode, details } = metadata;
  const failure = { code: String(errorCode), message: content ?? '' };
  if (typeof details !== 'string') return failure;
  return { ...failure, details: details.slice(0, VIEW_LIMITS.maxResultChars).toWellFormed() };
}

/** What the newest calls that opened and closed the worktree reported, from their results, the newest first. */
export function worktreeOf(results: Iterable<ToldResult>): Pick<Agent, 'worktree'> {
  let opened: OpenedWorktree | undefined;
  let closed: ClosedWorktree | undefined;
  for (const { metadata } of results) {
    opened ??= OpenedWorktree.safeParse(metadata).data;
    closed ??= ClosedWorktree.safeParse(metadata).data;
    if (opened && closed) break;
  }
  if (!opened) return {};
  const { path: _, ...begun } = opened;
  return { worktree: { ...begun, ...closed } };
}

export function shownWebhook(
  { url, secret, isGone }: AgentWebhook,
  withSecret: boolean,
): Agent['webhook'] {
  return { url, state: isGone ? 'gone' : 'active', ...(withSecret && { secret }) };
}
