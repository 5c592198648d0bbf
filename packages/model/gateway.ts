/** Sends one request to the model, reads the streamed answer and judges it. The run decides about retries. */

import { PROVIDERS } from '../../shared/settings/dialects.ts';
import { Body, ConnectionError } from './body.ts';
import { CONTEXT_LENGTH_EXCEEDED } from './context-overflow.ts';
import { costOf } from './cost.ts';
import { demoReply } from './demo/wire.ts';
import { DIALECTS } from './dialects/dialects.ts';
import { withFittingCalls } from './dialects/fit-calls.ts';
import { type Fallback, fallbackFor } from './fallback.ts';
import { BodyGathering } from './gathering.ts';
import { UPSTREAM_LIMITS } from './limits.ts';
import type { JsonObject } from './loose-json.ts';
import type { ModelTarget, ServerTarget } from './models.ts';
import { publicError } from './public-error.ts';
import {
  type ReaderOptions,
  type ReplyPart,
  ReplyReader,
  readWholeReply,
  type UpstreamReply,
} from './reader.ts';
import { bothOf, type Concession, switchedBy, withConcession } from './refusals/concessions.ts';
import { type AfterRefusal, afterRefusal } from './refusals/ladder.ts';
import { Learned } from './refusals/learned.ts';
import { maxTokensOf, stringifyBody, type UpstreamRequest } from './request.ts';
import { isPassing, isRetryable, type Retry, retryAfterMs, retryFor, withEnd } from './retry.ts';
import { withoutSecrets } from './secrets.ts';
import { StallGuard } from './stall-guard.ts';

/** The result of a request. A failure of the upstream is a reply with the outcome `error` or `interrupted`. */
export interface GatewayAnswer {
  /** Its `usage` has a cost if the model's prices are known. */
  readonly reply: UpstreamReply;
  /** Null if another attempt cannot help. */
  readonly retry: Retry | null;
  /** Whether and when another model may answer instead. */
  readonly fallback: Fallback;
  /** What may follow where the server has refused the request; absent for another outcome. */
  readonly after?: AfterRefusal;
  /** The settings that the request had differently, because the server refuses them. */
  readonly adjusted?: readonly string[];
  /** Why the server was not reached, without secrets: for the operator's log, not for people. */
  readonly unreached?: string;
}

/** Asks the model within UPSTREAM_LIMITS; `onParts` gets parts as they come. Throws by the signal or `onParts`. */
export async function askModel(
  target: ModelTarget,
  request: UpstreamRequest,
  onParts: (parts: readonly ReplyPart[]) => void,
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  const guard = new StallGuard(signal);
  const isSingle = request.sampling?.parallelToolCalls === false;
  // Servers without the setting, and some with it, send more.
  const show = isSingle
    ? (parts: readonly ReplyPart[]) => onParts(parts.filter(isOfFirstCall))
    : onParts;
  try {
    const { reply: whole, ...judged } = await attempt(target, request, show, guard);
    const reply = isSingle ? { ...whole, calls: whole.calls.slice(0, 1) } : whole;
    const named = withCode(reply, judged.after);
    const fallback = fallbackFor(named, judged.retry);
    const sent = withPublicError(withCost(named, target), target);
    return { ...judged, reply: sent, fallback };
  } catch (cause) {
    signal.throwIfAborted();
    if (!(cause instanceof ConnectionError)) throw cause;
    const unreached = withoutSecrets(String(cause.cause), secretsOf(target));
    const { reply, retry } = unreachable(guard);
    return { reply, retry, fallback: fallbackFor(reply, retry), unreached };
  } finally {
    guard.end();
  }
}

function isOfFirstCall(part: ReplyPart): boolean {
  return part.type !== 'call' || part.call === 0;
}

/** What one attempt came to. */
type Judged = Pick<GatewayAnswer, 'reply' | 'retry' | 'after' | 'adjusted'>;

/** Asks the server, and asks again in another form if its error says which form it wants. */
async function attempt(
  target: ModelTarget,
  request: UpstreamRequest,
  onParts: (parts: readonly ReplyPart[]) => void,
  guard: StallGuard,
): Promise<Judged> {
  if (target.kind === 'demo') {
    const response = demoReply({
      messages: request.messages,
      tools: request.tools.map((tool) => ('function' in tool ? tool.function.name : '')),
    });
    return await readResponse(response, {}, onParts, guard);
  }
  let made = learned.of(target);
  let lasting: Concession | undefined;
  for (let steps = 0; ; steps++) {
    const form = withConcession(target, made);
    const { body, omitted } = bodyFor(form, request);
    const response = await post(body, form, request, guard);
    const judged = await readResponse(response, readerOptionsFor(form), onParts, guard);
    const { error } = judged.reply;
    if (!error) {
      // Only what has helped is remembered.
      if (lasting) learned.keep(target, lasting);
      const isLowered = maxTokensOf(request, form) !== maxTokensOf(request, target);
      const adjusted = [
        ...DIALECTS[target.dialect].lacks.filter((name) => request.sampling?.[name] !== undefined),
        ...omitted,
        ...switchedBy(made),
        ...(isLowered ? ['max_tokens'] : []),
      ];
      return { ...judged, ...(adjusted.length > 0 && { adjusted }) };
    }
    if (hasBegun(judged.reply) || judged.retry) return judged;
    const { messages: _, input: __, system: ___, tools, ...fields } = body;
    const { history } = request;
    const refused = { target: form, fields, hasTools: tools !== undefined, history };
    const after = afterRefusal(error, refused);
    if (after.type !== 'setting' || steps === UPSTREAM_LIMITS.maxConcessions)
      return { ...judged, after };
    const { isOnce, ...concession } = after.concession;
    made = bothOf(made, concession);
    if (!isOnce) lasting = bothOf(lasting, concession);
  }
}

/** Each instance of the Worker learns what a server refuses by itself: that costs one request. */
const learned = new Learned();

/** Whether anything was shown. A second attempt would then show it twice. */
function hasBegun({ text, reasoning, calls }: UpstreamReply): boolean {
  return text !== '' || reasoning !== null || calls.length > 0;
}

function readerOptionsFor({ dialect, upstreamId, switches }: ServerTarget): ReaderOptions {
  const { newReader, hasThinkTags } = DIALECTS[dialect];
  return { reader: newReader(upstreamId), thinkTags: hasThinkTags && switches.thinkTags };
}

/** The body, and the names of what it would have if the server had not refused them. */
function bodyFor(
  target: ServerTarget,
  request: UpstreamRequest,
): { body: JsonObject; omitted: string[] } {
  const asked = { ...request, messages: withFittingCalls(request, target) };
  const fields = Object.entries(DIALECTS[target.dialect].format(asked, target)).filter(
    ([, value]) => value !== undefined,
  );
  const isOmitted = (name: string) => target.omitted?.includes(name) === true;
  return {
    body: Object.fromEntries(fields.filter(([name]) => !isOmitted(name))),
    omitted: fields.map(([name]) => name).filter(isOmitted),
  };
}

async function post(
  body: JsonObject,
  target: ServerTarget,
  { images }: UpstreamRequest,
  guard: StallGuard,
): Promise<Response> {
  const text = stringifyBody(body);
  const sent = fetch(`${target.baseUrl}${DIALECTS[target.dialect].path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...PROVIDERS[target.dialect].headers(target.apiKey),
    },
    body: images ? images.fill(text, () => guard.sent()) : text,
    // A redirect could lead the key and the conversation to any host.
    redirect: 'manual',
    signal: guard.signal,
  });
  return await sent.catch(ConnectionError.throw);
}

async function readResponse(
  response: Response,
  options: ReaderOptions,
  onParts: (parts: readonly ReplyPart[]) => void,
  guard: StallGuard,
): Promise<Judged> {
  const body = new Body(response);
  try {
    const { status } = response;
    if (status >= 300 && status < 400) return failed(REDIRECTED, status);
    return response.ok && (await isEventStream(body, guard))
      ? await readStream(body, options, onParts, guard)
      : await readWhole(response, body, options, onParts);
  } finally {
    body.cancel();
  }
}

/** Decides by the first character: servers and proxies send wrong content types. */
async function isEventStream(body: Body, guard: StallGuard): Promise<boolean> {
  try {
    return !WHOLE.has(await body.peek());
  } catch (cause) {
    if (guard.signal.aborted) throw cause;
    return true; // The connection broke: the next read fails the same way.
  }
}

/** First characters of JSON, markup and an empty body. An event stream begins with a field name or a colon. */
const WHOLE: ReadonlySet<string> = new Set(['{', '[', '<', '']);

async function readStream(
  body: Body,
  options: ReaderOptions,
  onParts: (parts: readonly ReplyPart[]) => void,
  guard: StallGuard,
): Promise<Judged> {
  const reader = new ReplyReader(options);
  const show = (parts: readonly ReplyPart[]) => {
    if (parts.length > 0) onParts(parts);
  };
  using gathering = new BodyGathering((bytes) => {
    const seen = reader.eventCount;
    show(reader.push(bytes));
    if (reader.eventCount > seen) guard.heard();
    if (reader.isOver) body.cancel(); // The next read may never come.
  }, body);
  while (!reader.isOver) {
    const bytes = await readOn(body, guard);
    if (!bytes) break;
    gathering.push(bytes);
  }
  gathering.flush();
  const { parts, reply } = reader.end();
  show(parts);
  return judgeStream(reply, guard);
}

/** Null at the end, and if the connection broke or the guard ended it. The part that came is judged all the same. */
async function readOn(body: Body, guard: StallGuard): Promise<Uint8Array | null> {
  try {
    return await body.read();
  } catch (cause) {
    if (guard.signal.aborted && guard.verdict === null) throw cause;
    return null;
  }
}

/** Ignores silence after a complete answer: some servers leave out `[DONE]` and hold the connection open. */
function judgeStream(reply: UpstreamReply, guard: StallGuard): Judged {
  if (guard.verdict !== null && reply.outcome === 'interrupted') {
    const given = unreachable(guard);
    const { outcome, error } = given.reply;
    return { reply: { ...reply, outcome, error }, retry: given.retry };
  }
  const { outcome, error } = reply;
  // A second attempt can succeed if the stream broke off or reported a passing fault.
  const isTransient =
    outcome === 'interrupted' || (outcome === 'error' && error !== null && isPassing(error));
  return { reply, retry: isTransient ? retryFor(error, null) : null };
}

/** Reads an error, or a whole completion, which some servers send although the request asks for a stream. */
async function readWhole(
  { status, headers }: Response,
  body: Body,
  options: ReaderOptions,
  onParts: (parts: readonly ReplyPart[]) => void,
): Promise<Judged> {
  const text = await readBounded(body);
  if (status < 400 && text.trim() === '') return { reply: NOTHING_CAME, retry: { afterMs: null } };
  const { parts, reply } = readWholeReply(status, headers.get('content-type'), text, options);
  if (parts.length > 0) onParts(parts);
  if (!isRetryable(status)) return { reply, retry: null };
  const { error } = reply;
  const askedMs = retryAfterMs(headers, Date.now());
  const retry = retryFor(error, askedMs);
  const waitMs = askedMs ?? error?.waitMs;
  if (retry || !error || waitMs === undefined) return { reply, retry };
  return { reply: { ...reply, error: withEnd(error, waitMs, Date.now()) }, retry };
}

async function readBounded(body: Body): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = await body.read(); bytes; bytes = await body.read()) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > UPSTREAM_LIMITS.maxBodyChars) break;
  }
  return text + decoder.decode();
}

/** The error with the code of what the ladder found it to be. */
function withCode(reply: UpstreamReply, after: AfterRefusal | undefined): UpstreamReply {
  const { error } = reply;
  if (!error || !after) return reply;
  if (after.type === 'shorten' && !after.isSuspicion)
    return { ...reply, error: { ...error, code: CONTEXT_LENGTH_EXCEEDED } };
  if (after.type !== 'end' || !after.code) return reply;
  const param = 'field' in after && { param: after.field };
  return { ...reply, error: { ...error, code: after.code, ...param } };
}

function withCost(reply: UpstreamReply, target: ModelTarget): UpstreamReply {
  const { usage } = reply;
  if (!usage || target.kind === 'demo' || !target.prices) return reply;
  return { ...reply, usage: { ...usage, cost: costOf(usage, target.prices) } };
}

function withPublicError(reply: UpstreamReply, target: ModelTarget): UpstreamReply {
  return reply.error ? { ...reply, error: publicError(reply.error, secretsOf(target)) } : reply;
}

function secretsOf(target: ModelTarget): readonly string[] {
  return target.kind === 'demo' ? [] : target.secrets;
}

/** The answer if the connection failed or the guard ended it. No retry after `too_slow`: it would be slow again. */
function unreachable(guard: StallGuard): Judged {
  switch (guard.verdict) {
    case 'too_slow':
      return failed('The model server did not finish in time.', null);
    case 'silent':
      return { ...failed('The model server stopped answering.', null), retry: { afterMs: null } };
    case null:
      return {
        ...failed(
          'The model server cannot be reached: does it run, at the address that is set?',
          null,
        ),
        retry: { afterMs: null },
      };
    default:
      return guard.verdict satisfies never;
  }
}

/** Does not show the redirect's target: a client must not see an upstream's headers. */
const REDIRECTED =
  'The model server answers with a redirect, which is not followed: its base URL must be the final address.';

function failed(message: string, status: number | null): Judged {
  const error = { message, code: null, type: null, status };
  return { reply: { ...NOTHING_CAME, outcome: 'error', error }, retry: null };
}

const NOTHING_CAME: UpstreamReply = {
  outcome: 'interrupted',
  finishReason: null,
  text: '',
  reasoning: null,
  calls: [],
  usage: null,
  error: null,
};
