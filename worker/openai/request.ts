/** What OpenAI's clients send to `/v1/chat/completions`, and what it asks of the agent. */
import * as z from 'zod';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { ChatRequest } from '../../shared/requests.ts';
import { askQuestion } from '../../shared/tools/ask-question.ts';
import { TOOLS } from '../../shared/tools/catalogue.ts';
import { HistoryMessage, toChatMessages } from './history.ts';

const OWN_TOOLS =
  'The agent brings its own tools, which run on the bridge: leave this out, or call the model itself';

const Messages = z
  .array(HistoryMessage)
  .min(1)
  .max(REQUEST_LIMITS.maxHistoryMessages)
  .refine(
    (messages) => messages.at(-1)?.role === 'user',
    'The last message must have the role user',
  )
  .transform(toChatMessages)
  .refine((messages) => {
    const { content } = messages.at(-1) ?? {};
    return typeof content !== 'string' || content.trim() !== '';
  }, 'The last message must not be empty');

/**
 * `POST /v1/chat/completions`. What would change the answer's form is refused; what only tunes the model is accepted and
 * ignored, as is every field that is not here: `temperature`, `top_p`, `max_tokens`, `max_completion_tokens`, `stop`,
 * `seed`, `presence_penalty`, `frequency_penalty`, `logit_bias`, `logprobs`, `top_logprobs`, `reasoning_effort`,
 * `verbosity`, `prediction`, `service_tier`, `tool_choice`, `parallel_tool_calls`, `web_search_options`, `user`,
 * `safety_identifier`, `prompt_cache_key`, `metadata`.
 */
export const CompletionRequest = z.object({
  model: ChatRequest.shape.model,
  messages: Messages,
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  /** Keeps the conversation, and lists it; without it this is one answer, which is forgotten. */
  store: z.boolean().nullish(),
  tools: z.array(z.unknown()).max(0, OWN_TOOLS).nullish(),
  functions: z.array(z.unknown()).max(0, OWN_TOOLS).nullish(),
  n: z.literal(1, 'There is one answer: leave n out').nullish(),
  response_format: z
    .object({ type: z.literal('text', 'The agent answers in Markdown: only text is possible') })
    .nullish(),
  modalities: z.array(z.literal('text', 'The agent answers in text only')).nullish(),
  audio: z.null('The agent answers in text only').optional(),
  /** These three are as in our own requests. */
  mode: ChatRequest.shape.mode,
  bridgeId: ChatRequest.shape.bridgeId,
  context: ChatRequest.shape.context,
});
export type CompletionRequest = z.infer<typeof CompletionRequest>;

/** Nobody could answer a question here, so the agent cannot ask any. */
const UNASKING_TOOLS = Object.fromEntries(
  TOOLS.filter((tool) => tool !== askQuestion).map(({ name }) => [name, {}]),
);

/** The same as a request of our own. */
export function toChatRequest(request: CompletionRequest): ChatRequest {
  const { model, mode, messages, bridgeId, context } = request;
  return {
    ...{ model, mode, messages, bridgeId, context },
    tools: UNASKING_TOOLS,
    include: ['reasoning'],
    delivery: 'queue',
    stream: false,
  };
}
