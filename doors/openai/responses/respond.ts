/** Answers a request of the Responses API. */
import type { Context } from 'hono';
import type { ResponseFormatTextConfig } from 'openai/resources/responses/responses';
import { resolveModel } from '../../../packages/model/index.ts';
import type { OutputForm } from '../../../shared/api/requests.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { parseResponseId, ResponseId } from '../../../shared/ids.ts';
import { SECOND } from '../../../shared/units.ts';
import { type ApiDesk, type AppContext, deskOf } from '../../../worker/door.ts';
import { answer, askedBy, toSending } from '../answering.ts';
import { ignoredIn } from '../request.ts';
import { nameIn } from './ids.ts';
import {
  formIn,
  previousOf,
  ResponsesFields,
  type ResponsesRequest,
  toChatRequest,
} from './request.ts';
import { newResponse, outputOf, type UsedSettings } from './response.ts';
import { ResponseWire } from './wire.ts';

/** Answers with a `response`, with its events, or with an error. */
export async function respond(
  c: Context<AppContext>,
  request: ResponsesRequest,
): Promise<Response> {
  const { asks, ...asked } = request;
  const requested = resolveModel(request.model, c.env);
  const form = formIn(request);
  const previous = 'results' in asks ? null : previousOf(request);
  const conversationId =
    previous === null ? undefined : await conversationAfter(deskOf(c), previous);
  const isKept = request.store !== false || conversationId !== undefined;
  return await answer(c, {
    ...askedBy(asks, () => toSending(request, toChatRequest(request, conversationId), form)),
    isKept,
    isStreamed: request.stream === true,
    ignored: ignoredIn(asked, ResponsesFields),
    hosted: request.tools?.hosted ?? [],
    shape: (place) => {
      const head = {
        name: nameIn(place, isKept),
        isKept,
        created: Math.floor(Date.now() / SECOND),
        instructions: request.instructions ?? null,
        previous: request.previous_response_id ?? null,
        used: usedIn(request, form),
      };
      return {
        whole: ({ words, calls, model, usage }, reason) => {
          const output = outputOf(head.name, words, calls);
          const isWhole = reason === 'stop' || reason === 'tool_calls';
          const status = isWhole ? 'completed' : 'incomplete';
          return newResponse(head, { model, status, output, usage, reason });
        },
        wire: () => new ResponseWire(head, requested, form),
      };
    },
  });
}

/** Without `temperature` or `top_p` nothing is sent: 1 leaves the model's own choice as it is. */
function usedIn(request: ResponsesRequest, form: OutputForm | undefined): UsedSettings {
  const { temperature, top_p, tools, tool_choice, parallel_tool_calls, max_output_tokens } =
    request;
  return {
    temperature: temperature ?? 1,
    top_p: top_p ?? 1,
    max_output_tokens: max_output_tokens ?? null,
    parallel_tool_calls: parallel_tool_calls ?? true,
    tool_choice: namedChoice(tool_choice),
    tools: (tools?.given ?? []).map((tool) =>
      'type' in tool && tool.type === 'function' ? { ...NO_FACTS, ...tool } : tool,
    ) as UsedSettings['tools'],
    text: { format: formatOf(form) },
    safety_identifier: request.safety_identifier ?? null,
  };
}

/** What a function has to say of itself, even where the request says nothing. */
const NO_FACTS = { description: null, parameters: null, strict: null };

/** Of a schema the request's name for it is not kept. */
function formatOf(form: OutputForm | undefined): ResponseFormatTextConfig {
  if (!form) return { type: 'text' };
  const { schema } = form;
  return schema ? { type: 'json_schema', name: '', schema, strict: true } : { type: 'json_object' };
}

function namedChoice(choice: ResponsesRequest['tool_choice']): UsedSettings['tool_choice'] {
  return typeof choice === 'object' && choice
    ? { type: 'function', ...choice }
    : (choice ?? 'auto');
}

/** The conversation after this response: its own, or a fork where that has gone on. @throws NOT_FOUND */
async function conversationAfter(desk: ApiDesk, previous: string): Promise<string> {
  if (!ResponseId.safeParse(previous).success) throw unknownResponse();
  const { conversationId: from, ordinal } = parseResponseId(previous);
  if (!(await desk.has(from, ordinal))) throw unknownResponse();
  return (await desk.has(from, ordinal + 1)) ? await desk.fork({ from, ordinal }) : from;
}

function unknownResponse(): DrawbridgeError {
  return new DrawbridgeError(
    'NOT_FOUND',
    'previous_response_id: there is no such response: it was not stored, or is of another account',
  );
}
