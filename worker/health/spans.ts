/**
 * Spans of the runtime's own tracing, with the names of OpenTelemetry's conventions for generative AI
 * (https://github.com/open-telemetry/semantic-conventions-genai, in development). No span has content. Without tracing,
 * spans cost nothing but their call.
 */

import { tracing } from 'cloudflare:workers';
import { AsyncLocalStorage } from 'node:async_hooks';
import { SPAN_NAMES } from './span-names.ts';

export type SpanFields = {
  readonly [name in keyof typeof SPAN_NAMES]?: string | number | boolean | undefined;
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

/** Without it, a span would belong to the call that began its run, and be dropped with it. Needs `nodejs_als`. */
const inPresentCall = AsyncLocalStorage.snapshot();

function describe(span: Span, fields: SpanFields): void {
  if (!span.isTraced) return;
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) span.setAttribute(SPAN_NAMES[name as keyof SpanFields], value);
  }
  if (fields.error !== undefined) span.setStatus({ code: 'error' });
}
