/** Calls as a conversation hands them to its tunnel. */
import { newCallId, newConversationId } from '../../../shared/ids.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';

export function newToolCall(command = 'make'): ToolCall {
  return {
    callId: newCallId(crypto.randomUUID()),
    conversationId: newConversationId(crypto.randomUUID()),
    tool: 'run_terminal_cmd',
    arguments: { command },
    mode: 'agent',
  };
}
