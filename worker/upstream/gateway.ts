/** One request to the model: sent, read as it streams, and judged. Retrying it is the run's decision. */
import { UPSTREAM_LIMITS } from '../../shared/limits.ts';
import { demoReply } from './demo/reply.ts';
import type { ModelTarget } from './models.ts';
import { type ReplyPart, ReplyReader, readWholeReply, type UpstreamReply } from './reader.ts';
import { formatRequest, type UpstreamRequest } from './request.ts';
import { isRetryable, retryAfterMs } from './retry.ts';
import { StallGuard } from './stall-guard.ts';

/** What a request came to. Failures of the upstream are replies with the outcome `error` or `interrupted`. */
export interface Answer {
  readonly reply: UpstreamReply;
  /** When a failure is worth another attempt: how long the upstream asks to wait, or null where it does not say. */
  readonly retry: { readonly afterMs: number | null } | null;
}

/**
 * Asks the model; `onParts` gets each network read's parts as they arrive. Ends within the stall limits whatever the
 * upstream does. Throws only when the caller's signal aborts.
 */
export async function askModel(
  target: ModelTarget,
  request: UpstreamRequest,
  onParts: (parts: readonly ReplyPart[]) => void,
  signal: AbortSignal,
): Promise<Answer> {
  const guard = new StallGuard(signal);
  try {
    const response = await send(target, request, guard.signal);
    return response.ok && isEventStream(response)
      ? await readStream(response, onParts, guard)
      : await readWhole(response, onParts);
  } catch (cause) {
    signal.throwIfAborted();
    console.error('upstream failed:', cause);
    return unreachable(
      guard.stalled ? 'The model server stopped answering.' : 'The model server cannot be reached.',
    );
  } finally {
    guard.end();
  }
}

async function send(
  target: ModelTarget,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<Response> {
  if (target.kind === 'demo') {
    return demoReply({
      messages: request.messages,
      tools: request.tools.map((tool) => ('function' in tool ? tool.function.name : '')),
    });
  }
  return await fetch(`${target.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(target.apiKey && { authorization: `Bearer ${target.apiKey}` }),
    },
    body: formatRequest(request),
    signal,
  });
}

function isEventStream(response: Response): boolean {
  const type = response.headers.get('content-type') ?? '';
  return !type.includes('json') && !type.includes('html');
}

async function readStream(
  response: Response,
  onParts: (parts: readonly ReplyPart[]) => void,
  guard: StallGuard,
): Promise<Answer> {
  const reader = new ReplyReader();
  const body = response.body?.getReader();
  try {
    for (let seen = 0; body && !reader.isDone; ) {
      const { value, done } = await body.read();
      if (done) break;
      const parts = reader.push(value);
      if (parts.length > 0) onParts(parts);
      if (reader.eventCount > seen) guard.heard();
      seen = reader.eventCount;
    }
  } catch (cause) {
    if (guard.signal.aborted) throw cause;
    // The connection broke: what came before it is judged like a stream that just ended.
  } finally {
    void body?.cancel().catch(() => undefined); // It has ended, or is not wanted any more.
  }
  const { parts, reply } = reader.end();
  if (parts.length > 0) onParts(parts);
  return { reply, retry: isTransient(reply) ? { afterMs: null } : null };
}

/** An error, or a server that answers with a whole completion although a stream was asked for. */
async function readWhole(
  response: Response,
  onParts: (parts: readonly ReplyPart[]) => void,
): Promise<Answer> {
  const { status, headers } = response;
  const { parts, reply } = readWholeReply(
    status,
    headers.get('content-type'),
    await readBounded(response),
  );
  if (parts.length > 0) onParts(parts);
  const retry = isRetryable(status) ? { afterMs: retryAfterMs(headers, Date.now()) } : null;
  return { reply, retry };
}

async function readBounded(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > UPSTREAM_LIMITS.maxBodyChars) break;
  }
  return text + decoder.decode();
}

/** A stream that broke off, or reported a passing fault, may do better the next time. */
function isTransient({ outcome, error }: UpstreamReply): boolean {
  if (outcome === 'interrupted') return true;
  return outcome === 'error' && error?.status != null && isRetryable(error.status);
}

function unreachable(message: string): Answer {
  const error = { message, code: null, type: null, status: null };
  return {
    reply: {
      outcome: 'error',
      finishReason: null,
      text: '',
      reasoning: null,
      calls: [],
      usage: null,
      error,
    },
    retry: { afterMs: null },
  };
}
