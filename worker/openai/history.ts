/** Converts the messages of an OpenAI client, which sends the whole history each time, to our own. */
import * as z from 'zod';
import { ChatMessage, textOf } from '../../shared/api/requests.ts';
import { tagged } from '../prompt/escape.ts';

const Content = ChatMessage.shape.content;
const Text = Content.refine(
  (content) => typeof content === 'string',
  'Only messages of the role user may hold images',
);

/** A part of an assistant's message: text or a refusal. */
const SaidPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
]);

const ToolCall = z.object({
  id: z.string(),
  function: z.object({ name: z.string(), arguments: z.string() }).optional(),
  custom: z.object({ name: z.string(), input: z.string() }).optional(),
});

/** One message in OpenAI's shape. */
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
 * The messages in order. The tools of a history belong to another agent, so their calls are dropped. Their results stay
 * as tagged data in messages of the user. In messages of the assistant, the model would imitate them and write calls as
 * text instead of making them.
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
