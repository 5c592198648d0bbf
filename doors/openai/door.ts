import type { Door } from '../door.ts';
import { isOpenAiPath, OPENAI_REFUSALS, toOpenAiResponse } from './errors.ts';
import type { CompletionRequest } from './request.ts';
import type { ResponsesFields } from './responses/request.ts';
import * as responsesSchemas from './responses/schemas.ts';
import { OPENAI } from './routes.ts';
import * as schemas from './schemas.ts';

/** Unknown field names do not compile. */
type TextsOf<Shape> = { readonly [Name in keyof Shape]?: string };

const TOOLS =
  'Functions of the client, which the model may call beside the agent’s own tools. Of two with one name the client’s counts.';

const COMPLETION_REQUEST: TextsOf<typeof CompletionRequest.shape> = {
  store:
    'Keeps and lists the conversation. Without it the conversation is deleted after its answer.',
  tools: TOOLS,
  n: 'Must be 1: there is one answer.',
};

const RESPONSES_REQUEST: TextsOf<typeof ResponsesFields.shape> = {
  store: 'Keeps and lists the conversation. This is the default, as it is with OpenAI.',
  tools: TOOLS,
};

/** OpenAI's Chat Completions and Responses. */
export const openAi: Door = {
  endpoints: OPENAI,
  schemas: Object.fromEntries([...Object.entries(schemas), ...Object.entries(responsesSchemas)]),
  fields: { CompletionRequest: COMPLETION_REQUEST, ResponsesRequest: RESPONSES_REQUEST },
  refusal: ({ path }, error, headers) =>
    isOpenAiPath(path) ? toOpenAiResponse(error, headers) : undefined,
  refusals: OPENAI_REFUSALS,
};
