/** The request of `/v1/responses`, and its conversion to a request of our own. */
import * as z from 'zod';
import { ChatFields, type ChatRequest } from '../../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import {
  FunctionFields,
  ONLY_FUNCTIONS,
  toClientTools,
  toResults,
  UNKNOWN_CALL,
} from '../client-tools.ts';
import { HistoryMessage } from '../history.ts';
import { messagesIn, OTHER_PATH, OWN_CHOICE, ToolChoice, toAsked } from '../request.ts';
import { responseIdIn } from './ids.ts';

const Text = z.object({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() });

const Image = z.object({
  type: z.literal('input_image'),
  image_url: z.string('Only images with an image_url are possible'),
  detail: z.enum(['auto', 'low', 'high']).nullish(),
});

const Refusal = z.object({ type: z.literal('refusal'), refusal: z.string() });

const InputPart = z.discriminatedUnion('type', [Text, Image, Refusal]);
type InputPart = z.infer<typeof InputPart>;

const Message = z.object({
  type: z.literal('message'),
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: z.union([z.string(), z.array(InputPart).max(REQUEST_LIMITS.maxContentParts)]),
});

const Output = z.union([z.string(), z.array(Text)]);

const InputItem = z.discriminatedUnion('type', [
  Message,
  z.object({
    type: z.literal('function_call'),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({ type: z.literal('function_call_output'), call_id: z.string(), output: Output }),
  /** What an earlier answer thought, which its model alone could read. */
  z.object({ type: z.literal('reasoning') }),
  z.object({
    type: z.literal('item_reference'),
    id: z.string().transform((id, context) => {
      const responseId = responseIdIn(id);
      if (responseId !== undefined) return responseId;
      context.addIssue({ code: 'custom', message: 'No answer of Drawbridge has this item' });
      return z.NEVER;
    }),
  }),
]);
type InputItem = z.infer<typeof InputItem>;

/** An item without a type is a message. */
const AnyItem = z.preprocess(
  (item) =>
    typeof item === 'object' && item !== null && !('type' in item)
      ? { ...item, type: 'message' }
      : item,
  InputItem,
);

const Input = z.union([
  z.string().transform((text): InputItem[] => [{ type: 'message', role: 'user', content: text }]),
  z.array(AnyItem).min(1).max(REQUEST_LIMITS.maxHistoryMessages),
]);

const Tools = z
  .array(z.object({ type: z.literal('function', ONLY_FUNCTIONS), ...FunctionFields.shape }))
  .max(REQUEST_LIMITS.maxClientTools)
  .transform(toClientTools);

const History = z.array(HistoryMessage);

const Format = z.object({
  type: z.literal('text', 'The agent answers in Markdown: only text is possible'),
});

const NO_MESSAGE =
  'The last item must be a message of the role user, which is not empty, or the output of a call';

/**
 * The fields of `POST /v1/responses`. As for Chat Completions, refuses what would change the form of the answer or
 * restrict the agent, and accepts and ignores what only tunes a model: `reasoning`, `include`, `truncation`, `metadata`.
 */
export const ResponsesFields = z.looseObject({
  model: ChatFields.shape.model,
  input: Input,
  instructions: z.string().max(REQUEST_LIMITS.maxMessageChars).nullish(),
  previous_response_id: z.string().nullish(),
  /** Keeps and lists the conversation, as is the default with OpenAI. */
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  temperature: ChatFields.shape.temperature.nullable(),
  max_output_tokens: ChatFields.shape.maxTokens.nullable(),
  user: ChatFields.shape.user.nullable(),
  safety_identifier: ChatFields.shape.user.nullable(),
  /** Tools of the app: the answer ends with their calls. */
  tools: Tools.nullish(),
  tool_choice: ToolChoice,
  max_tool_calls: z.null(OWN_CHOICE).optional(),
  background: z
    .literal(false, 'Create an agent instead: POST /api/v1/agents, or leave this out')
    .nullish(),
  conversation: z.null('Name the response before with previous_response_id instead').optional(),
  prompt: z.null(OTHER_PATH).optional(),
  text: z.looseObject({ format: Format.nullish() }).nullish(),
  /** The same as in our own requests, like the next three. */
  budget: ChatFields.shape.budget,
  mode: ChatFields.shape.mode,
  bridgeId: ChatFields.shape.bridgeId,
  context: ChatFields.shape.context,
});

/** With what it `asks`: messages behind what the conversation has already, or results of calls. */
export const ResponsesRequest = ResponsesFields.transform((request, context) => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', path: ['input'], message });
    return z.NEVER;
  };
  const { input } = request;
  if (input.at(-1)?.type === 'function_call_output') {
    return { ...request, asks: toResults(lastResults(input)) ?? refuse(UNKNOWN_CALL) };
  }
  const known = input.findLastIndex(({ type }) => type === 'item_reference');
  const { data, error } = History.safeParse(input.slice(known + 1).flatMap(toHistory));
  const asked = data?.at(-1)?.role === 'user' ? toAsked(data) : undefined;
  return { ...request, asks: asked ?? refuse(error?.issues[0]?.message ?? NO_MESSAGE) };
});
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;

/**
 * The id of our response after which the conversation goes on; null for a new conversation. Clients that send the whole
 * input each time refer to items of earlier answers: the conversation has everything up to the last of them.
 */
export function previousOf({
  input,
  previous_response_id: previous,
}: ResponsesRequest): string | null {
  if (previous != null) return responseIdIn(previous) ?? previous;
  return input.findLast((item) => item.type === 'item_reference')?.id ?? null;
}

/** `conversationId` is the one that goes on. */
export function toChatRequest(request: ResponsesRequest, conversationId?: string): ChatRequest {
  const { model, mode, bridgeId, context, budget, instructions, asks } = request;
  const { temperature, max_output_tokens: maxTokens, user, safety_identifier: sender } = request;
  const system = instructions ? [{ role: 'system' as const, content: instructions }] : [];
  return {
    temperature: temperature ?? undefined,
    maxTokens: maxTokens ?? undefined,
    user: user ?? sender ?? undefined,
    model,
    mode,
    bridgeId,
    context,
    budget,
    conversationId,
    messages: [...system, ...messagesIn(asks)],
    include: ['reasoning'],
    delivery: 'queue',
    stream: false,
  };
}

function lastResults(input: readonly InputItem[]) {
  const before = input.findLastIndex(({ type }) => type !== 'function_call_output');
  return input.slice(before + 1).flatMap((item) => {
    if (item.type !== 'function_call_output') return [];
    return { id: item.call_id, output: textIn(item.output) };
  });
}

function toHistory(item: InputItem): z.input<typeof HistoryMessage>[] {
  switch (item.type) {
    case 'message':
      return [toMessage(item)];
    case 'function_call': {
      const { call_id: id, name, arguments: given } = item;
      return [{ role: 'assistant', tool_calls: [{ id, function: { name, arguments: given } }] }];
    }
    case 'function_call_output':
      return [{ role: 'tool', tool_call_id: item.call_id, content: textIn(item.output) }];
    case 'reasoning':
    case 'item_reference':
      return [];
    default:
      return item satisfies never;
  }
}

function toMessage({ role, content }: z.infer<typeof Message>): z.input<typeof HistoryMessage> {
  if (role !== 'user' || typeof content === 'string') return { role, content: textIn(content) };
  return { role, content: content.map(toPart) };
}

function toPart(part: InputPart) {
  if (part.type !== 'input_image') return { type: 'text' as const, text: textIn([part]) };
  const { image_url: url, detail } = part;
  return { type: 'image_url' as const, image_url: { url, ...(detail && { detail }) } };
}

/** Without images, which only messages of the user hold. */
function textIn(content: string | readonly InputPart[]): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => ('text' in part ? part.text : 'refusal' in part ? part.refusal : ''))
    .join('');
}
