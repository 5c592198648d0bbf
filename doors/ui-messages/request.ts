/** The requests of the AI SDK's chat transports, and their conversion to a request of our own. */
import * as z from 'zod';
import {
  ChatFields,
  type ChatMessage,
  type ChatRequest,
  ContentPart,
  ImagePart,
} from '../../shared/api/requests.ts';
import { ResponseId } from '../../shared/ids.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { named } from '../../shared/named.ts';
import { addedFrom, checkAdded, Earlier, toAsked } from '../openai/added.ts';
import { ChatTools } from '../openai/brought-tools.ts';
import { Output, toResults } from '../openai/client-tools.ts';
import {
  fieldsOf,
  isImageType,
  isSilent,
  ownPart,
  textFileIn,
  wordsOf,
} from '../openai/history.ts';
import { ONLY_TEXT } from '../openai/request.ts';
import { UI_LIMITS } from './limits.ts';

/** A chat's id: the app's own, or that of a conversation. */
export const ChatId = z.string().min(1).max(UI_LIMITS.maxIdChars);

/** Tools of the page by their names, as assistant-ui sends them. */
const PageTools = z
  .record(z.string(), z.unknown())
  .transform((tools) =>
    Object.entries(tools).map(([name, tool]): Record<string, unknown> & { type: string } => ({
      type: 'function',
      function: { ...fieldsOf(tool), name },
    })),
  )
  .pipe(ChatTools);

const Text = z.object({ kind: z.literal('text'), text: z.string() });

const Image = z.object({ kind: z.literal('image'), url: ImagePart.shape.image_url.shape.url });

const File = z
  .looseObject({ kind: z.literal('file') })
  .refine((part) => textFileIn(part) !== undefined, { error: ONLY_TEXT, path: ['mediaType'] });

/** A place that the message names (`DataUIPart` of the name `mention`), with the fields of a part of our own. */
const UiMention = z
  .looseObject({ kind: z.literal('mention') })
  .transform((part) => ownPart(fieldsOf(part)))
  .pipe(ContentPart);

const Other = z.looseObject({ kind: z.literal('other') }).refine(({ type }) => isSilent(type), {
  error: 'A new message takes text, images, text files and mentions',
  path: ['type'],
});

const UiPart = z.preprocess(
  (part) => (typeof part === 'object' && part !== null ? { ...part, kind: kindOf(part) } : part),
  z.discriminatedUnion('kind', [Text, Image, File, UiMention, Other]),
);

function kindOf(part: object): 'text' | 'image' | 'file' | 'mention' | 'other' {
  const { type, mediaType } = fieldsOf(part);
  if (type === 'text') return type;
  if (type === 'file') return isImageType(mediaType) ? 'image' : type;
  return type === 'data-mention' ? 'mention' : 'other';
}

/** Of the messages that the client does not add, every field may be another one. */
const AnyMessage = z.looseObject({
  id: z.string().max(UI_LIMITS.maxIdChars),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(z.unknown()),
});

const NO_MESSAGE = 'The last message must have the role user, and a text, an image or a text file';

const Message = AnyMessage.extend({
  role: z.enum(['system', 'user'], NO_MESSAGE),
  parts: z.array(UiPart).max(REQUEST_LIMITS.maxContentParts),
});

/** Fields of messages that cannot be in the SDK's own are those of our own requests. Unknown fields are of the app. */
const Fields = z.looseObject({
  id: ChatId,
  messages: z
    .array(z.union([AnyMessage, Earlier]))
    .min(1)
    .max(REQUEST_LIMITS.maxHistoryMessages),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  /** The message that was edited, or the answer that is made again. */
  messageId: z.string().nullish(),
  /** assistant-ui sends it. */
  system: z.string().max(REQUEST_LIMITS.maxMessageChars).nullish(),
  tools: z.preprocess((tools) => (isEmpty(tools) ? null : tools), PageTools.nullish()),
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
  const known = messages.findLastIndex((message) => answerIdIn(message) !== undefined);
  const returned = returnedIn(messages[known]);
  if (returned.length > 0 && known === messages.length - 1) {
    const named = returned.map((part) => ({ type: 'function_call_output', part }));
    const given = toResults(named, (item) => Returned.safeParse(Object(item).part).data);
    if (given) return { ...request, given, previous: null, sent: [], lastId: '' };
  }
  const from = Math.max(addedFrom(messages), known);
  // With words behind them, the run that waited for them ends, and they are data.
  const behind = { role: 'assistant', parts: returned };
  const items = known < 0 ? messages : messages.with(known, behind);
  const divided = { path: ['messages'], items, from, schema: Message };
  const added = checkAdded(divided, context);
  if (!added) return z.NEVER;
  const { messages: sent } = toAsked(divided, Math.max(known, 0), context, NO_MESSAGE);
  /** The answer after which the chat goes on; null for none. */
  const previous = answerIdIn(messages[known]) ?? null;
  return { ...request, previous, sent, lastId: added.at(-1)?.id ?? '' };
});
named.add(UiChatRequest, { id: 'UiChatRequest' });
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

/** A result of a tool of the page. */
const Returned = z
  .looseObject({
    type: z.string().regex(/^(tool-|dynamic-tool$)/),
    toolCallId: z.string(),
    state: z.enum(['output-available', 'output-error']),
    providerExecuted: z.literal(false).optional(),
  })
  .transform(({ toolCallId: id, output, errorText }) => {
    const value = errorText ?? output ?? '';
    const words = () => wordsOf(value).slice(0, REQUEST_LIMITS.maxMessageChars);
    return { id, output: Output.safeParse(value).data ?? words() };
  });

/** The results of the calls with which an answer ends for now. */
function returnedIn(answer: unknown): unknown[] {
  const parts = [fieldsOf(answer).parts ?? []].flat();
  const last = parts.findLastIndex((part) => fieldsOf(part).type === 'step-start');
  return parts.slice(last + 1).filter((part) => Returned.safeParse(part).success);
}

function isEmpty(value: unknown): boolean {
  return Object.keys(Object(value ?? [])).length === 0;
}

/** Answers of Drawbridge have the ids of their responses. */
function answerIdIn(message: unknown): string | undefined {
  const { role, id } = fieldsOf(message);
  return role === 'assistant' ? ResponseId.safeParse(id).data : undefined;
}
