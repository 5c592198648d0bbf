/** Which replies end a run, and what the person is told. Pure. */
import type { UpstreamReply } from '../upstream/reader.ts';
import type { ErrorReport } from './tool-events.ts';

/** The reason a reply cannot be taken as an answer; null for a good one. */
export function failureOf(reply: UpstreamReply): ErrorReport | null {
  const source = 'upstream';
  switch (reply.outcome) {
    case 'completed':
      return reply.text === '' && reply.calls.length === 0
        ? { code: 'EMPTY_ANSWER', source, message: 'The model answered nothing.' }
        : null;
    case 'truncated':
      return {
        code: 'ANSWER_TRUNCATED',
        source,
        message: 'The model reached its token limit. What it asked for in this answer was not run.',
      };
    case 'filtered':
      return {
        code: 'CONTENT_FILTERED',
        source,
        message: "The model server's content filter cut the answer.",
      };
    case 'interrupted':
      return {
        code: 'UPSTREAM_INTERRUPTED',
        source,
        message: 'The answer broke off before its end.',
      };
    case 'error':
      return {
        code:
          reply.error?.code === 'CONTEXT_LENGTH_EXCEEDED'
            ? 'CONTEXT_LENGTH_EXCEEDED'
            : 'UPSTREAM_ERROR',
        source,
        message: reply.error?.message ?? 'The model server reported an error.',
      };
    default:
      return reply.outcome satisfies never;
  }
}
