/** The request of `/v1/responses`, and its conversion to a request of our own. */
import * as z from 'zod';
import type { OutputForm } from '../../../shared/api/requests.ts';
import { ChatFields, type ChatRequest, ImagePart } from '../../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { named } from '../../../shared/named.ts';
import { addedFrom, Earlier, isResult } from '../added.ts';
import { ResponsesTools } from '../brought-tools.ts';
import { asksIn, type GivenResult, Output } from '../client-tools.ts';
import { fieldsOf, textFileIn } from '../history.ts';
import { TextFormat, wishFor } from '../output-format.ts';
import {
  messagesIn,
  ONLY_TEXT,
  OTHER_PATH,
  OWN_CHOICE,
  SAMPLING,
  samplingOf,
  ToolChoice,
} from '../request.ts';
import { responseIdIn } from './ids.ts';

const Text = z.object({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() });

const Image = z.object({
  type: z.literal('input_image'),
  image_url: ImagePart.shape.image_url.shape.url,
  detail: z.enum(['auto', 'low', 'high']).nullish(),
});

const Refusal = z.object({ type: z.literal('refusal'), refusal: z.string() });

const File = z
  .looseObject({ type: z.literal('input_file') })
  .refine((part) => textFileIn(part) !== undefined, { error: ONLY_TEXT, path: ['file_data'] });

const InputPart = z.discriminatedUnion('type', [Text, Image, File, Refusal]);

const Message = z.object({
  type: z.literal('message'),
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: z.union([z.string(), z.array(InputPart).max(REQUEST_LIMITS.maxContentParts)]),
});

const InputItem = z.discriminatedUnion('type', [
  Message,
  z.object({
    type: z.literal('function_call'),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({
    type: z.enum(['function_call_output', 'custom_tool_call_output']),
    call_id: z.string(),
    output: Output,
  }),
  /** What an earlier answer thought, which its model alone could read. */
  z.object({ type: z.literal('reasoning') }),
  z.object({
    type: z.literal('item_reference'),
    id: z
      .string()
      .refine((id) => responseIdIn(id) !== undefined, 'No answer of Drawbridge has this item'),
  }),
]);

/** An item without a type is a message. */
const AnyItem = z.preprocess(
  (item) =>
    typeof item === 'object' && item !== null && !('type' in item)
      ? { ...item, type: 'message' }
      : item,
  InputItem,
);

const Input = z.union([
  z.string().transform((content): unknown[] => [{ type: 'message', role: 'user', content }]),
  z
    .array(z.union([AnyItem, Earlier]))
    .min(1)
    .max(REQUEST_LIMITS.maxHistoryMessages),
]);

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
  top_p: SAMPLING.top_p,
  parallel_tool_calls: SAMPLING.parallel_tool_calls,
  /** Tools of the app: the answer ends with their calls. */
  tools: ResponsesTools.nullish(),
  tool_choice: ToolChoice,
  max_tool_calls: z.null(OWN_CHOICE).optional(),
  background: z
    .literal(false, 'Create an agent instead: POST /api/v1/agents, or leave this out')
    .nullish(),
  conversation: z.null('Name the response before with previous_response_id instead').optional(),
  prompt: z.null(OTHER_PATH).optional(),
  text: z.looseObject({ format: TextFormat.nullish() }).nullish(),
  /** The same as in our own requests, like the next three. */
  budget: ChatFields.shape.budget,
  mode: ChatFields.shape.mode,
  bridgeId: ChatFields.shape.bridgeId,
  context: ChatFields.shape.context,
});

/** With what it `asks`: messages behind what the conversation has already, or results of calls. */
export const ResponsesRequest = ResponsesFields.transform((request, context) => {
  const { input: items, previous_response_id: previous } = request;
  const known = items.findLastIndex((item) => referenceIn(item) !== undefined) + 1;
  const isNew = previous != null && !isResult(items.at(-1));
  const from = isNew ? known : addedFrom(items);
  const asked = { path: ['input'], items, from, schema: AnyItem };
  const reading = { resultIn, known, noMessage: NO_MESSAGE };
  const asks = asksIn(asked, reading, context);
  return asks ? { ...request, asks } : z.NEVER;
});
named.add(ResponsesRequest, { id: 'ResponsesRequest' });
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;

function resultIn(item: unknown): GivenResult | undefined {
  const result = AnyItem.safeParse(item).data;
  return result && 'output' in result ? { id: result.call_id, output: result.output } : undefined;
}

/**
 * The id of our response after which the conversation goes on; null for a new conversation. Clients that send the whole
 * input each time refer to items of earlier answers: the conversation has everything up to the last of them.
 */
export function previousOf({
  input,
  previous_response_id: previous,
}: ResponsesRequest): string | null {
  if (previous != null) return responseIdIn(previous) ?? previous;
  return referenceIn(input.findLast((item) => referenceIn(item) !== undefined)) ?? null;
}

/** The id of our response that an item refers to. */
function referenceIn(item: unknown): string | undefined {
  const { type, id } = fieldsOf(item);
  return type === 'item_reference' && typeof id === 'string' ? responseIdIn(id) : undefined;
}

/** The form of the answer that the request wants; undefined for text. */
export function formIn({ text }: Pick<ResponsesRequest, 'text'>): OutputForm | undefined {
  return text?.format ?? undefined;
}

/** `conversationId` is the one that goes on. */
export function toChatRequest(request: ResponsesRequest, conversationId?: string): ChatRequest {
  const { model, mode, bridgeId, context, budget, instructions, asks } = request;
  const { top_p, parallel_tool_calls } = request;
  const { temperature, max_output_tokens: maxTokens, user, safety_identifier: sender } = request;
  const system = instructions ? [{ role: 'system' as const, content: instructions }] : [];
  return {
    temperature: temperature ?? undefined,
    maxTokens: maxTokens ?? undefined,
    user: user ?? sender ?? undefined,
    ...samplingOf({ top_p, parallel_tool_calls }),
    model,
    mode,
    bridgeId,
    context,
    budget,
    conversationId,
    messages: [...system, ...wishFor(formIn(request)), ...messagesIn(asks)],
    include: ['reasoning'],
    delivery: 'queue',
    stream: false,
  };
}
