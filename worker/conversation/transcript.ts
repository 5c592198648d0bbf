/** What was said so far, as messages for the model: pure over what the conversation stored. */
import type { ChatMessage } from '../../shared/requests.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import type { UpstreamMessage } from '../upstream/request.ts';
import type { Machine, Run, Turn } from './rows.ts';

/** A turn with what its calls came to, in call order; undefined where a call has no result. */
export interface AnsweredTurn {
  readonly turn: Turn;
  readonly results: readonly (ToolResult | undefined)[];
}

/** How a user's message is put, with the context of its run; prompt/ owns the words. */
export type UserText = (text: string, run: Run, machine: Machine | null) => string;

/** The messages of one run: what was asked, then each turn with its results. Every call gets exactly one result. */
export function messagesOfRun(
  run: Run,
  turns: readonly AnsweredTurn[],
  userText: UserText,
): UpstreamMessage[] {
  const asked = run.request.messages.filter((message) => message.role !== 'system');
  return [
    ...asked.map((message, index) =>
      index === asked.length - 1
        ? { role: 'user' as const, content: userText(message.content, run, run.machine) }
        : toUpstream(message),
    ),
    ...turns.flatMap(messagesOfTurn),
  ];
}

function toUpstream({ role, content }: ChatMessage): UpstreamMessage {
  return role === 'assistant' ? { role, content } : { role: 'user', content };
}

function messagesOfTurn({ turn, results }: AnsweredTurn): UpstreamMessage[] {
  const { text, calls, reasoningDetails } = turn;
  if (calls.length === 0) return text === '' ? [] : [{ role: 'assistant', content: text }];
  return [
    {
      role: 'assistant',
      content: text,
      ...(reasoningDetails && { reasoning_details: reasoningDetails }),
      tool_calls: calls.map((call) => ({
        ...call.extra,
        id: call.upstreamId,
        type: 'function' as const,
        function: {
          name: call.name,
          arguments: call.rawArguments === '' ? '{}' : call.rawArguments,
        },
      })),
    },
    ...calls.map((call, index) => ({
      role: 'tool' as const,
      tool_call_id: call.upstreamId,
      content: resultText(results[index]),
    })),
  ];
}

function resultText(result: ToolResult | undefined): string {
  if (!result) return 'Error CANCELLED: the call was cancelled before it had a result.';
  return result.status === 'success' ? result.data : `Error ${result.code}: ${result.data}`;
}
