/** `/v1`: the agent as OpenAI's clients see a model. */
import * as z from 'zod';
import { CompletionRequest } from '../../openai/request.ts';
import { COMPLETION_STREAM } from '../examples.ts';
import { jsonAnswer, type Operation } from '../operation.ts';
import { ChatAnswer, ChatCompletionChunk, Model, Models } from './openai.ts';

/** Runs that failed before anything was sent (worker/openai/errors.ts). After tools have run, 424 takes the place of a 5xx. */
const RUN_FAILURES = [
  { status: 400, code: 'context_length_exceeded' },
  { status: 410, code: 'cancelled' },
  { status: 424, code: 'upstream_error' },
  { status: 500, code: 'answer_lost' },
  { status: 502, code: 'upstream_interrupted' },
  { status: 502, code: 'empty_answer' },
] as const;

export const OPENAI_OPERATIONS: readonly Operation[] = [
  {
    id: 'createChatCompletion',
    method: 'post',
    path: '/v1/chat/completions',
    tag: 'OpenAI',
    summary: 'Chat Completions',
    description:
      'The whole history each time, in OpenAI’s shape. What only tunes the model is accepted, and ignored where a header says so; tools of the client are refused, for the agent brings its own.',
    access: 'user',
    body: {
      schema: CompletionRequest,
      example: { model: 'gpt-5.2', messages: [{ role: 'user', content: 'What is here?' }] },
    },
    answers: [
      {
        status: 200,
        description:
          'The answer, or its chunks with `"stream": true`. A failure that comes later than 15 s is an `error` under 200.',
        headers: {
          'Drawbridge-Conversation-Id': 'The conversation behind it.',
          'Drawbridge-Ignored-Fields':
            'Fields of the request that change nothing; missing where there are none.',
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
    errors: ['UNKNOWN_MODEL', 'IMAGES_NOT_SUPPORTED', 'NOT_FOUND', 'UPSTREAM_ERROR'],
    refusals: RUN_FAILURES,
  },
  {
    id: 'listOpenAiModels',
    method: 'get',
    path: '/v1/models',
    tag: 'OpenAI',
    summary: 'Models',
    access: 'user',
    answers: [jsonAnswer(200, 'All of them.', Models)],
  },
  {
    id: 'getOpenAiModel',
    method: 'get',
    path: '/v1/models/{id}',
    tag: 'OpenAI',
    summary: 'One model',
    access: 'user',
    params: { id: { description: 'The model’s name; it may hold slashes.', zod: z.string() } },
    answers: [jsonAnswer(200, 'The model.', Model)],
    errors: ['NOT_FOUND'],
  },
];
