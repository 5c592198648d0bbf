/**
 * Spans of the runtime's own tracing, with the names of OpenTelemetry's conventions for generative AI
 * (https://github.com/open-telemetry/semantic-conventions-genai, in development). No span has content. Without tracing,
 * spans cost nothing but their call.
 */

import { tracing } from 'cloudflare:workers';
import { AsyncLocalStorage } from 'node:async_hooks';

/** The attributes. The conventions still change: no other file has their names. */
const NAMES = {
  operation: 'gen_ai.operation.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  provider: 'gen_ai.provider.name',
  server: 'server.address',
  model: 'gen_ai.request.model',
  maxTokens: 'gen_ai.request.max_tokens',
  isStream: 'gen_ai.request.stream',
  firstSeconds: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tool: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  call: 'gen_ai.tool.call.id',
  error: 'error.type',
  // Our own, for what the conventions do not have.
  run: 'drawbridge.response.id',
  trace: 'drawbridge.trace_id',
  seconds: 'drawbridge.duration',
} as const;

export type SpanFields = {
  readonly [name in keyof typeof NAMES]?: string | number | boolean | undefined;
};

/**
 * Traces something that is over. The span itself has no length, and `seconds` has its duration: the runtime drops a span that is open when its object gets another call, and nearly every run gets one. Never throws.
 */
export function markSpan(name: string, fields: SpanFields): void {
  try {
    inPresentCall(() => tracing.enterSpan(name, (span) => describe(span, fields)));
  } catch {
    // No run may fail because of a trace. Where a request has loaded this module, as in tests, others may not use it.
  }
}

/**
 * Without it, a span would belong to the call in which its run was begun, however long ago. The runtime drops spans of
 * a call that is over. (Needs the flag `nodejs_als`.)
 */
const inPresentCall = AsyncLocalStorage.snapshot();

function describe(span: Span, fields: SpanFields): void {
  if (!span.isTraced) return;
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) span.setAttribute(NAMES[name as keyof SpanFields], value);
  }
  if (fields.error !== undefined) span.setStatus({ code: 'error' });
}
