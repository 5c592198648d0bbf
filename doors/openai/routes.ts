/** `/v1`: presents the agent to OpenAI's clients as a model. */
import * as z from 'zod';
import { listModels } from '../../packages/model/index.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { chats } from '../../shared/settings/models.ts';
import { type Endpoint, type Env, jsonAnswer, parseMessage } from '../../worker/door.ts';
import { complete } from './complete.ts';
import { CompletionRequest } from './request.ts';
import { ResponsesRequest } from './responses/request.ts';
import { respond } from './responses/respond.ts';
import { ResponseAnswer, ResponseEvent } from './responses/schemas.ts';
import { ChatAnswer, ChatCompletionChunk, Model, Models } from './schemas.ts';

/** Failures of a run before anything was sent (errors.ts). 424 replaces a 5xx if tools may have run. */
const RUN_FAILURES = [
  { status: 400, code: 'context_length_exceeded' },
  { status: 410, code: 'cancelled' },
  { status: 424, code: 'upstream_error' },
  { status: 500, code: 'answer_lost' },
  { status: 502, code: 'upstream_interrupted' },
  { status: 502, code: 'empty_answer' },
] as const;

/** An example stream in OpenAI's shape. */
const COMPLETION_STREAM = [
  chunk({ role: 'assistant', content: '' }, null),
  chunk({ content: 'It prints `Hello`.' }, null),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
].join('');

const RESPONSE_STREAM = event('response.output_text.delta', { delta: 'It prints `Hello`.' });

const COMMON = { tag: 'OpenAI', access: 'user' } as const;

/** What a run of an OpenAI client can end with: `whole` in one piece, or a stream of `events`. */
function runAnswers(whole: z.ZodType, events: z.ZodType, example: string) {
  return {
    answers: [
      {
        status: 200,
        description:
          'The answer, or its events with `"stream": true`. A failure after more than 15 s is an `error` with status 200.',
        headers: {
          'Drawbridge-Conversation-Id': 'The conversation of this answer.',
          'Drawbridge-Ignored-Fields': 'Ignored fields of the request. Missing if there are none.',
        },
        content: [
          { type: 'application/json', schema: whole },
          {
            type: 'text/event-stream',
            events,
            examples: { events: { summary: 'Events', value: example } },
          },
        ],
      },
    ],
    errors: [
      'BRIDGE_NOT_NAMED',
      'UNKNOWN_MODEL',
      'MODEL_NOT_PRIVATE',
      'UNKNOWN_MODE',
      'IMAGES_NOT_SUPPORTED',
      'COST_UNKNOWN',
      'NOT_FOUND',
      'ALREADY_ANSWERED',
      'UPSTREAM_ERROR',
    ],
    refusals: RUN_FAILURES,
  } as const satisfies Partial<Endpoint>;
}

/** The endpoints of this file. */
export const OPENAI: readonly Endpoint[] = [
  {
    ...COMMON,
    id: 'createChatCompletion',
    needs: 'chat',
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'Chat Completions',
    description:
      'Takes the whole history each time, in OpenAI’s shape. Only the new message is checked. Fields that only tune the model are accepted. The header `Drawbridge-Ignored-Fields` names the ignored ones. The agent brings its own tools. With `tools` of the app the answer ends with their calls, and a request that ends with all their results goes on with it.',
    rate: 'run',
    body: {
      schema: CompletionRequest,
      example: { model: 'gpt-5.2', messages: [{ role: 'user', content: 'What is here?' }] },
    },
    ...runAnswers(ChatAnswer, ChatCompletionChunk, COMPLETION_STREAM),
    handle: async (c) => await complete(c, await parseMessage(c, CompletionRequest)),
  },
  {
    ...COMMON,
    id: 'createOpenAiResponse',
    needs: 'chat',
    method: 'post',
    path: '/v1/responses',
    summary: 'Responses',
    description:
      'Takes text or items, in OpenAI’s shape. The conversation is kept unless `store` is false, and goes on with `previous_response_id`, or with references to items of earlier answers. From an earlier response than the last it goes on as a fork. The header `Drawbridge-Ignored-Fields` names the ignored fields. The agent brings its own tools. With `tools` of the app the answer ends with their calls, and a request that ends with all their results goes on with it.',
    rate: 'run',
    body: {
      schema: ResponsesRequest,
      example: { model: 'gpt-5.2', input: 'What is here?' },
    },
    ...runAnswers(ResponseAnswer, ResponseEvent, RESPONSE_STREAM),
    handle: async (c) => await respond(c, await parseMessage(c, ResponsesRequest)),
  },
  {
    ...COMMON,
    id: 'listOpenAiModels',
    needs: 'read',
    method: 'get',
    path: '/v1/models',
    summary: 'List models',
    answers: [jsonAnswer(200, 'The whole list.', Models)],
    handle: (c) => {
      const data = modelsOf(c.env);
      const items = data.map(({ id }) => ({ id, displayName: id }));
      return c.json({ object: 'list', data, items });
    },
  },
  {
    ...COMMON,
    id: 'getOpenAiModel',
    needs: 'read',
    method: 'get',
    path: '/v1/models/{id}',
    summary: 'Get a model',
    params: {
      id: {
        description: 'The model’s name. It may contain slashes.',
        zod: z.string(),
        hasSlashes: true,
      },
    },
    answers: [jsonAnswer(200, 'The model.', Model)],
    handle: (c) => {
      const model = modelsOf(c.env).find(({ id }) => id === c.req.param('id'));
      if (model) return c.json(model);
      throw new DrawbridgeError('NOT_FOUND', 'model: there is no such model');
    },
  },
];

function chunk(delta: object, finishReason: string | null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
  const head = { id: 'chatcmpl-4f6c1b9e-6a0d-4c1e-9d6b-3c2f5a7e0001', created: 1_793_525_400 };
  const data = { ...head, model: 'gpt-5.2', object: 'chat.completion.chunk', choices: [choice] };
  return `data: ${JSON.stringify(data)}\n\n`;
}

function event(type: string, fields: object): string {
  const data = { type, sequence_number: 4, output_index: 0, content_index: 0, ...fields };
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The models with the chat role. A table may hold others. */
function modelsOf(env: Env) {
  const chatting = listModels(env).items.filter(({ roles }) => !roles || chats({ roles }));
  return chatting.map(({ id }) => ({
    id,
    object: 'model',
    created: UNKNOWN_TIME,
    owned_by: 'drawbridge',
  }));
}

/** Clients want a number, but only the upstream knows when a model was made. */
const UNKNOWN_TIME = 0;
