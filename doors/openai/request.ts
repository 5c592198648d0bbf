/** The request of `/v1/chat/completions`, and its conversion to a request of our own. */
import * as z from 'zod';
import {
  ChatFields,
  ChatMessage,
  type ChatRequest,
  ContentPart,
} from '../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { named } from '../../shared/named.ts';
import { type AskedMessages, addedFrom, Earlier } from './added.ts';
import { ChatTools } from './brought-tools.ts';
import { asksIn, type CallResults, type GivenResult, Output } from './client-tools.ts';
import { textFileIn } from './history.ts';
import { ResponseFormat, wishFor } from './output-format.ts';

export const OWN_CHOICE =
  'The agent chooses its own tools, as often as it needs them: leave this out';
/** `none` leaves the app's tools out. The name of a function stands as each API writes it. */
export const ToolChoice = z
  .union(
    [
      z.enum(['auto', 'none', 'required']),
      z
        .object({ type: z.enum(['function', 'custom']), name: z.string() })
        .transform(({ name }) => ({ name })),
      z
        .object({ type: z.literal('function'), function: z.object({ name: z.string() }) })
        .transform((choice) => ({ name: choice.function.name })),
      z
        .object({ type: z.literal('custom'), custom: z.object({ name: z.string() }) })
        .transform((choice) => ({ name: choice.custom.name })),
    ],
    OWN_CHOICE,
  )
  .nullish();
export const OTHER_PATH =
  'Tools cannot be restricted here: send the message to /api/v1/chat/completions, or leave this out';

const Text = ChatMessage.shape.content.refine(
  (content) => typeof content === 'string',
  'Only messages of the role user may hold images',
);

/** Why a file is refused. */
export const ONLY_TEXT =
  'Only images and text files can be attached, as data: URLs: send other files as text';

const FilePart = z
  .looseObject({ type: z.literal('file') })
  .refine((part) => textFileIn(part) !== undefined, { error: ONLY_TEXT, path: ['file'] });

/** Our own parts, and text files. */
const Parts = z
  .array(z.discriminatedUnion('type', [ContentPart, FilePart]))
  .max(REQUEST_LIMITS.maxContentParts);

/** A message that a client adds. */
const Message = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer']), content: Text }),
  z.object({ role: z.literal('user'), content: z.union([z.string(), Parts]) }),
  z.looseObject({ role: z.literal('assistant') }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string(), content: Output }),
]);

const NO_MESSAGE =
  'The last message must have the role user or tool, and a message of the user must not be empty';

const Messages = z
  .array(z.union([Message, Earlier]))
  .min(1)
  .max(REQUEST_LIMITS.maxHistoryMessages)
  .transform((items, context): AskedMessages | CallResults => {
    const asked = { path: [], items, from: addedFrom(items), schema: Message };
    const reading = { resultIn, known: 0, noMessage: NO_MESSAGE };
    return asksIn(asked, reading, context) ?? z.NEVER;
  });

function resultIn(item: unknown): GivenResult | undefined {
  const message = Message.safeParse(item).data;
  if (message?.role !== 'tool') return undefined;
  return { id: message.tool_call_id, output: message.content };
}

/** None where results come in place of a question. */
export function messagesIn(asks: AskedMessages | CallResults): ChatMessage[] {
  return [...(('messages' in asks ? asks : asks.otherwise)?.messages ?? [])];
}

/** Settings that go to the model server. */
export const SAMPLING = {
  top_p: ChatFields.shape.topP.nullable(),
  stop: z
    .union([z.string(), z.array(z.string())])
    .transform((stops) => [stops].flat())
    .pipe(z.array(z.string().min(1).max(REQUEST_LIMITS.maxStopChars)).max(REQUEST_LIMITS.maxStops))
    .nullish(),
  seed: ChatFields.shape.seed.nullable(),
  parallel_tool_calls: ChatFields.shape.parallelToolCalls.nullable(),
};

/** The same in our own request. */
export function samplingOf({
  top_p: topP,
  stop,
  seed,
  parallel_tool_calls: parallelToolCalls,
}: Partial<z.infer<z.ZodObject<typeof SAMPLING>>>): Pick<
  ChatRequest,
  'topP' | 'stop' | 'seed' | 'parallelToolCalls'
> {
  return {
    topP: topP ?? undefined,
    stop: stop && stop.length > 0 ? stop : undefined,
    seed: seed ?? undefined,
    parallelToolCalls: parallelToolCalls ?? undefined,
  };
}

/**
 * `POST /v1/chat/completions`. Refuses fields that would change the form of the answer, or restrict the agent in a way
 * that is not supported. Accepts and ignores any other field (see {@link ignoredIn}), for example `presence_penalty`,
 * `logit_bias`, `logprobs`, `reasoning_effort`, `metadata`.
 */
export const CompletionRequest = z.looseObject({
  model: ChatFields.shape.model,
  messages: Messages,
  stream: z.boolean().nullish(),
  temperature: ChatFields.shape.temperature.nullable(),
  max_tokens: ChatFields.shape.maxTokens.nullable(),
  /** The newer name of `max_tokens`. It takes precedence. */
  max_completion_tokens: ChatFields.shape.maxTokens.nullable(),
  user: ChatFields.shape.user.nullable(),
  ...SAMPLING,
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  /** Keeps and lists the conversation. Without it the conversation is deleted after its answer. */
  store: z.boolean().nullish(),
  /** Tools of the app: the answer ends with their calls. */
  tools: ChatTools.nullish(),
  functions: z.array(z.unknown()).max(0, 'Send functions as tools').nullish(),
  tool_choice: ToolChoice,
  function_call: z.literal('auto', OWN_CHOICE).nullish(),
  availableTools: z.null(OTHER_PATH).optional(),
  allowedTools: z.null(OTHER_PATH).optional(),
  allowed_tools: z.null(OTHER_PATH).optional(),
  max_tool_calls: z.null(OWN_CHOICE).optional(),
  n: z.literal(1, 'There is one answer: leave n out').nullish(),
  response_format: ResponseFormat.nullish(),
  modalities: z.array(z.literal('text', 'The agent answers in text only')).nullish(),
  audio: z.null('The agent answers in text only').optional(),
  /** The same as in our own requests, like the next three. */
  budget: ChatFields.shape.budget,
  mode: ChatFields.shape.mode,
  bridgeId: ChatFields.shape.bridgeId,
  context: ChatFields.shape.context,
});
named.add(CompletionRequest, { id: 'CompletionRequest' });
export type CompletionRequest = z.infer<typeof CompletionRequest>;

/** The names of fields that the schema does not know, as far as a header can hold them. */
export function ignoredIn(
  request: Readonly<Record<string, unknown>>,
  { shape }: { readonly shape: object },
): string[] {
  const names = Object.keys(request).filter(
    (name) => !Object.hasOwn(shape, name) && request[name] != null,
  );
  return names.filter((name) => FIELD_NAME.test(name)).slice(0, REQUEST_LIMITS.maxUnknownFields);
}

const FIELD_NAME = /^[\w.-]{1,64}$/;

/** Converts the request to one of our own. */
export function toChatRequest(request: CompletionRequest): ChatRequest {
  const { model, mode, messages: asks, bridgeId, context, budget } = request;
  const { temperature, max_tokens, max_completion_tokens, user } = request;
  const { top_p, stop, seed, parallel_tool_calls } = request;
  return {
    temperature: temperature ?? undefined,
    maxTokens: max_completion_tokens ?? max_tokens ?? undefined,
    user: user ?? undefined,
    ...samplingOf({ top_p, stop, seed, parallel_tool_calls }),
    model,
    mode,
    messages: [...wishFor(request.response_format ?? undefined), ...messagesIn(asks)],
    bridgeId,
    context,
    budget,
    include: ['reasoning'],
    delivery: 'queue',
    stream: false,
  };
}
