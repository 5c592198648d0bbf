/** What a subagent reports to the conversation that started it: its state, its open questions, and its end. Pure. */

import type { ChatResponse, Document } from '../../../shared/wire/documents.ts';
import { SubagentState } from '../../../shared/wire/subagents.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import type { TaskReport } from '../../ports/conversation.ts';
import type { ConversationRow, SubagentRole, Turn } from '../store/rows.ts';
import { TASK_LIMITS } from './limits.ts';

/** A subagent's response with what the response itself does not say. */
export interface Reported {
  readonly row: Pick<ConversationRow, 'id' | 'title'>;
  readonly role: SubagentRole;
  readonly response: ChatResponse;
  /** The turns of its run so far. */
  readonly turns: readonly Pick<Turn, 'calls' | 'text'>[];
}

export function stateOf({ row, role, response, turns }: Reported): SubagentState {
  const activity = activityOf(turns);
  const below = response.documents.flatMap(({ metadata }) => stateIn(metadata) ?? []);
  const calls = turns.reduce((count, turn) => count + turn.calls.length, 0);
  return {
    conversationId: row.id,
    type: role.type,
    model: response.model,
    status: response.status,
    turnCount: below.reduce((count, { turnCount }) => count + turnCount, turns.length),
    toolCallCount: below.reduce((count, { toolCallCount }) => count + toolCallCount, calls),
    ...(activity !== undefined && { activity }),
  };
}

/** The state of the subagent that a document's call started. */
function stateIn(metadata: Document['metadata']): SubagentState | undefined {
  return SubagentState.safeParse(metadata['subagent']).data;
}

/** `grep, read_file and 3 more`: the tools of the newest turn that called some. */
function activityOf(turns: Reported['turns']): string | undefined {
  const calls = turns.findLast((turn) => turn.calls.length > 0)?.calls;
  if (!calls) return undefined;
  const names = [...new Set(calls.map(({ name }) => name))];
  const named = names.slice(0, TASK_LIMITS.maxNamedTools).join(', ');
  const more = names.length - TASK_LIMITS.maxNamedTools;
  return more > 0 ? `${named} and ${more} more` : named;
}

/** The one message of a subagent that has finished: the result of the call that started it. */
export function endOf(reported: Reported): NonNullable<TaskReport['end']> {
  const { response, turns, role } = reported;
  const { usage, metadata } = response;
  const { duration_ms, rows = 0 } = metadata;
  const spent = { usage, turns: stateOf(reported).turnCount, duration_ms };
  const said = cut(turns.findLast(({ text }) => text !== '')?.text ?? '');
  return { result: { ...resultOf(response, said, role), metadata: spent }, rows };
}

function resultOf(
  { status, documents }: ChatResponse,
  said: string,
  role: SubagentRole,
): ToolResult {
  if (status === 'completed') return { status: 'success', data: said };
  const code = status === 'cancelled' ? 'CANCELLED' : 'SUBAGENT_FAILED';
  const error = documents.findLast(({ type }) => type === 'error');
  const reason = error?.content ?? 'It was stopped before its end.';
  const rest = said === '' ? 'It had said nothing yet.' : `Until then it had said:\n${said}`;
  return failure(code, `The subagent (${role.type}) did not finish. ${reason}\n${rest}`);
}

/** Keeps the beginning and, of a long text, says how much is missing. */
function cut(text: string): string {
  const { maxResultChars } = TASK_LIMITS;
  if (text.length <= maxResultChars) return text;
  const kept = text.slice(0, maxResultChars).toWellFormed();
  return `${kept}\n[cut: ${text.length - maxResultChars} more characters]`;
}
