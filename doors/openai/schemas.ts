/** Schemas of the OpenAI objects that this folder sends, for the API's description. */
import * as z from 'zod';
import { Cost } from '../../shared/wire/budget.ts';

const Usage = z.object({
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative(),
  total_tokens: z.int().nonnegative(),
  prompt_tokens_details: z.object({ cached_tokens: z.int().nonnegative() }).optional(),
  completion_tokens_details: z.object({ reasoning_tokens: z.int().nonnegative() }).optional(),
});

/** The sums of all requests of the run so far. */
const RunUsage = z.object({
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative(),
  total_tokens: z.int().nonnegative(),
  cost: Cost.optional(),
});

const FinishReason = z.enum(['stop', 'length', 'content_filter', 'tool_calls']);

const ToolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const head = {
  id: z.string().regex(/^chatcmpl-/),
  /** Seconds since 1970. */
  created: z.int(),
  model: z.string(),
};

export const ChatCompletion = z.object({
  ...head,
  object: z.literal('chat.completion'),
  choices: z
    .array(
      z.object({
        index: z.literal(0),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.null(),
          reasoning_content: z.string().optional(),
          tool_calls: z.array(ToolCall).optional(),
        }),
        logprobs: z.null(),
        finish_reason: FinishReason,
      }),
    )
    .length(1),
  usage: Usage.optional(),
  drawbridge_usage: RunUsage.optional(),
});

export const ChatCompletionChunk = z.object({
  ...head,
  object: z.literal('chat.completion.chunk'),
  choices: z
    .array(
      z.object({
        index: z.literal(0),
        delta: z.object({
          role: z.literal('assistant').optional(),
          content: z.string().optional(),
          refusal: z.null().optional(),
          reasoning_content: z.string().optional(),
          tool_calls: z.array(ToolCall.extend({ index: z.int().nonnegative() })).optional(),
        }),
        logprobs: z.null(),
        finish_reason: FinishReason.nullable(),
      }),
    )
    .max(1),
  usage: Usage.nullable().optional(),
  drawbridge_usage: RunUsage.optional(),
});

export const Model = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.literal('drawbridge'),
});

export const Models = z.object({
  object: z.literal('list'),
  data: z.array(Model),
  /** The same models for clients of Cursor's API. */
  items: z.array(z.object({ id: z.string(), displayName: z.string() })),
});

export const OpenAiFailure = z.object({
  error: z.object({
    message: z.string(),
    type: z.enum(['invalid_request_error', 'rate_limit_error', 'server_error']),
    param: z.string().nullable(),
    code: z.string(),
  }),
});

/** The body with status 200. A late answer can report its failure only in the body. */
export const ChatAnswer = z.union([ChatCompletion, OpenAiFailure]);
