/** The messages of an OpenAI client, which brings the whole history each time, as ours. */
import * as z from 'zod';
import { ChatMessage, textOf } from '../../shared/requests.ts';
import { tagged } from '../prompt/escape.ts';

const Content = ChatMessage.shape.content;
const Text = Content.refine(
  (content) => typeof content === 'string',
  'Only messages of the role user may hold images',
);

/** An assistant's parts: what it said, or why it would not. */
const SaidPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
]);

const ToolCall = z.object({
  id: z.string(),
  function: z.object({ name: z.string(), arguments: z.string() }).optional(),
  custom: z.object({ name: z.string(), input: z.string() }).optional(),
});

/** One message as it comes. */
export const HistoryMessage = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer']), content: Text }),
  z.object({ role: z.literal('user'), content: Content }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(SaidPart)]).nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(ToolCall).nullish(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string(), content: Text }),
]);
export type HistoryMessage = z.infer<typeof HistoryMessage>;

/**
 * What was said, in order. The tools of a history are another agent's, so their calls are dropped; but what they brought
 * is knowledge, and stays as labelled data. It stands in the user's voice: a model imitates how it seems to have called
 * tools itself, and would write calls instead of making them.
 */
export function toChatMessages(messages: readonly HistoryMessage[]): ChatMessage[] {
  const called = new Map<string, string>();
  return messages.flatMap((message): ChatMessage[] => {
    switch (message.role) {
      case 'system':
      case 'developer':
        return [{ role: 'system', content: textOf(message.content) }];
      case 'user':
        return [{ role: 'user', content: message.content }];
      case 'assistant': {
        for (const call of message.tool_calls ?? []) called.set(call.id, describeCall(call));
        const content = saidIn(message);
        return content === '' ? [] : [{ role: 'assistant', content }];
      }
      case 'tool': {
        const call = called.get(message.tool_call_id) ?? message.tool_call_id;
        const content = tagged('earlier_tool_result', `${call}\n\n${textOf(message.content)}`);
        return [{ role: 'user', content }];
      }
      default:
        return message satisfies never;
    }
  });
}

function describeCall({ function: called, custom }: z.infer<typeof ToolCall>): string {
  if (called) return `${called.name}(${called.arguments})`;
  return custom ? `${custom.name}(${custom.input})` : '';
}

function saidIn({ content, refusal }: Extract<HistoryMessage, { role: 'assistant' }>): string {
  if (typeof content === 'string') return content || (refusal ?? '');
  const parts = (content ?? []).map((part) => (part.type === 'text' ? part.text : part.refusal));
  return parts.join('') || (refusal ?? '');
}
