/** The trace id of all that was done for one request, in the form of W3C Trace Context. */
import * as z from 'zod';

/** The response header with the trace id of a request. */
export const TRACE_HEADER = 'Drawbridge-Trace-Id';

/** 32 hexadecimal digits in lower case, not all of them zero. */
export const TraceId = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/);

/** The trace id of a `traceparent` header, also of versions to come; undefined for an invalid one. */
export function traceIdIn(traceparent: string | undefined): string | undefined {
  const [, version, id, rest] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (version === 'ff' || (version === '00' && rest !== '')) return undefined;
  return TraceId.safeParse(id).data;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(|-.*)$/;

export function newTraceId(uuid: string): string {
  return uuid.replaceAll('-', '');
}
