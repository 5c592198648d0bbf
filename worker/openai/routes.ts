/** `/v1`: presents the agent to OpenAI's clients as a model. */
import * as z from 'zod';
import { DrawbridgeError } from '../../shared/errors.ts';
import { chats } from '../../shared/settings/models.ts';
import { parseBody } from '../desk/parse.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import type { Env } from '../env.ts';
import { listModels } from '../upstream/models.ts';
import { complete } from './complete.ts';
import { CompletionRequest } from './request.ts';
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

const COMMON = { tag: 'OpenAI', access: 'user' } as const;

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
      'Takes the whole history each time, in OpenAI’s shape. Fields that only tune the model are accepted. The header `Drawbridge-Ignored-Fields` names the ignored ones. Tools of the client are refused, because the agent brings its own.',
    rate: 'run',
    body: {
      schema: CompletionRequest,
      example: { model: 'gpt-5.2', messages: [{ role: 'user', content: 'What is here?' }] },
    },
    answers: [
      {
        status: 200,
        description:
          'The answer, or its chunks with `"stream": true`. A failure after more than 15 s is an `error` with status 200.',
        headers: {
          'Drawbridge-Conversation-Id': 'The conversation of this answer.',
          'Drawbridge-Ignored-Fields': 'Ignored fields of the request. Missing if there are none.',
        },
        content: [
          { type: 'application/json', schema: ChatAnswer },
          {
            type: 'text/event-stream',
            events: ChatCompletionChunk,
            examples: { chunks: { summary: 'Chunks', value: COMPLETION_STREAM } },
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
      'UPSTREAM_ERROR',
    ],
    refusals: RUN_FAILURES,
    handle: async (c) => await complete(c, await parseBody(c, CompletionRequest)),
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
