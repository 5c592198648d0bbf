/** The requests of the AI SDK's chat transports, and their conversion to a request of our own. */
import * as z from 'zod';
import {
  ChatFields,
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
} from '../../shared/api/requests.ts';
import { ResponseId } from '../../shared/ids.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { HistoryMessage, toChatMessages } from '../openai/history.ts';
import { UI_LIMITS } from './limits.ts';

/** A chat's id: the app's own, or that of a conversation. */
export const ChatId = z.string().min(1).max(UI_LIMITS.maxIdChars);

const OWN_TOOLS =
  'The agent brings its own tools, and calls none of the app: offer them by an MCP server at the bridge, and leave this out';

/** Of the messages that the conversation has already, only this is read. */
const AnyMessage = z.looseObject({
  id: z.string().max(UI_LIMITS.maxIdChars),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(z.unknown()),
});

const Text = z.object({ kind: z.literal('text'), text: z.string() });

const File = z.object({
  kind: z.literal('file'),
  mediaType: z
    .string()
    .regex(/^image(\/|$)/, 'Only images can be attached: send other files as text'),
  url: z.string(),
});

/** A call of another agent, static (`tool-NAME`) or dynamic. */
const UiToolCall = z.object({
  kind: z.literal('call'),
  type: z.string(),
  toolName: z.string().optional(),
  toolCallId: z.string(),
  input: z.unknown(),
  output: z.unknown(),
  errorText: z.string().optional(),
});

/** A place that the message names (`DataUIPart` of the name `mention`). Its fields are checked as those of a part. */
const UiMention = z.object({ kind: z.literal('mention'), data: z.record(z.string(), z.unknown()) });

/** Thoughts, sources, other data and marks of steps say nothing to a model. */
const Other = z.object({ kind: z.literal('other') });

const UiPart = z.preprocess(
  (part) =>
    typeof part === 'object' && part !== null ? { ...part, kind: kindOf(Object(part).type) } : part,
  z.discriminatedUnion('kind', [Text, File, UiMention, UiToolCall, Other]),
);
type UiPart = z.infer<typeof UiPart>;

function kindOf(type: unknown): 'text' | 'file' | 'mention' | 'call' | 'other' {
  if (type === 'text' || type === 'file') return type;
  if (type === 'data-mention') return 'mention';
  return /^(tool-|dynamic-tool$)/.test(String(type)) ? 'call' : 'other';
}

const Message = z.object({
  role: AnyMessage.shape.role,
  parts: z.array(UiPart).max(REQUEST_LIMITS.maxContentParts),
});

const NO_MESSAGE = 'The last message must have the role user, and a text or an image';

const NewMessages = z
  .array(Message)
  .max(REQUEST_LIMITS.maxMessages)
  .transform((messages) => messages.flatMap(toHistory))
  .pipe(z.array(HistoryMessage));

/** Fields of messages that cannot be in the SDK's own are those of our own requests. Unknown fields are of the app. */
const Fields = z.looseObject({
  id: ChatId,
  messages: z.array(AnyMessage).min(1).max(REQUEST_LIMITS.maxHistoryMessages),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  /** The message that was edited, or the answer that is made again. */
  messageId: z.string().nullish(),
  /** assistant-ui sends it, and `tools`, which are empty without tools of the app. */
  system: z.string().max(REQUEST_LIMITS.maxMessageChars).nullish(),
  tools: z.unknown().optional().refine(isEmpty, OWN_TOOLS),
  model: ChatFields.shape.model,
  mode: ChatFields.shape.mode,
  bridgeId: ChatFields.shape.bridgeId,
  budget: ChatFields.shape.budget,
  context: ChatFields.shape.context,
  questions: ChatFields.shape.questions,
  deleteAfterHours: ChatFields.shape.deleteAfterHours,
});

/** `POST /api/v1/ui/chat`, with what its messages mean. */
export const UiChatRequest = Fields.transform(({ messages, ...request }, context) => {
  const known = messages.findLastIndex(isAnswer);
  const { data, error } = NewMessages.safeParse(messages.slice(known + 1));
  const sent = data?.at(-1)?.role === 'user' ? toChatMessages(data) : [];
  const { content = '' } = sent.at(-1) ?? {};
  if (typeof content === 'string' && content.trim() === '') {
    const message = error?.issues[0]?.message ?? NO_MESSAGE;
    context.addIssue({ code: 'custom', path: ['messages'], message });
    return z.NEVER;
  }
  /** The answer after which the chat goes on; null for none. */
  const previous = messages[known]?.id ?? null;
  return { ...request, previous, sent, lastId: messages.at(-1)?.id ?? '' };
});
export type UiChatRequest = z.infer<typeof UiChatRequest>;

/** `conversationId` is the one that goes on, undefined for a new one. */
export function toChatRequest(request: UiChatRequest, conversationId?: string): ChatRequest {
  const { model, mode, bridgeId, budget, context, questions, deleteAfterHours } = request;
  const { system, sent } = request;
  const rules: ChatMessage[] = system ? [{ role: 'system', content: system }] : [];
  return {
    model,
    mode,
    budget,
    context,
    questions,
    conversationId,
    // A conversation has these already.
    ...(conversationId === undefined && { bridgeId, deleteAfterHours }),
    messages: [...rules, ...sent],
    include: ['reasoning'],
    delivery: 'queue',
    stream: false,
  };
}

function isEmpty(value: unknown): boolean {
  return Object.keys(Object(value ?? [])).length === 0;
}

/** Answers of Drawbridge have the ids of their responses. */
function isAnswer({ role, id }: z.infer<typeof AnyMessage>): boolean {
  return role === 'assistant' && ResponseId.safeParse(id).success;
}

function toHistory({ role, parts }: z.infer<typeof Message>): z.input<typeof HistoryMessage>[] {
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  switch (role) {
    case 'system':
      return [{ role, content: text }];
    case 'user':
      return [{ role, content: parts.flatMap(toContent) }];
    case 'assistant': {
      const calls = parts.filter((part) => part.kind === 'call');
      return [{ role, content: text, tool_calls: calls.map(toCall) }, ...calls.map(toResult)];
    }
    default:
      return role satisfies never;
  }
}

/** As the schema of messages will check it. */
function toContent(part: UiPart): ContentPart[] {
  if (part.kind === 'text') return [{ type: 'text', text: part.text }];
  if (part.kind === 'file') return [{ type: 'image_url', image_url: { url: part.url } }];
  if (part.kind !== 'mention') return [];
  const { data } = part;
  return [{ type: 'url' in data ? 'url' : 'path', ...data } as ContentPart];
}

type UiToolCall = z.infer<typeof UiToolCall>;

function toCall({ type, toolName, toolCallId: id, input }: UiToolCall) {
  const name = toolName ?? type.slice('tool-'.length);
  return { id, function: { name, arguments: textOf(input) } };
}

function toResult({ toolCallId, output, errorText }: UiToolCall): z.input<typeof HistoryMessage> {
  return { role: 'tool', tool_call_id: toolCallId, content: errorText ?? textOf(output) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
