/** `StreamChat`: turns the call into a run, and the run's text into the messages of a stream. */
import type { Context } from 'hono';
import type * as z from 'zod';
import type { ChatRequest } from '../../shared/api/requests.ts';
import { invalidRequest } from '../../shared/errors.ts';
import { ConversationId } from '../../shared/ids.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import { type AppContext, senderOf } from '../account/caller.ts';
import { type Submitted, submitMessage } from '../desk/submit.ts';
import { attachFirst } from '../follow/attach.ts';
import { cancelRun } from '../follow/cancel-run.ts';
import { type DeliveryHandler, deliver } from '../follow/deliver.ts';
import { refusalOf } from '../follow/fold-answer.ts';
import { SseWriter } from '../follow/sse-writer.ts';
import { logEvent } from '../health/log.ts';
import { LOST } from '../openai/errors.ts';
import { CompletionRequest, toChatRequest } from '../openai/request.ts';
import { AnswerTelling } from '../openai/telling.ts';
import { type ConnectError, ConnectRefusal, errorOfEnding, TIMED_OUT } from './errors.ts';
import { type Codec, type GetChatRequest, readChatRequest, writeChatResponse } from './messages.ts';
import { endEnvelope, envelope, readMessageBytes, timeoutOf } from './wire.ts';

/** Resolves when the run has begun. The run ends with its client, which cannot come back to the answer. */
export async function streamChat(c: Context<AppContext>, codec: Codec): Promise<Response> {
  const timeoutMs = timeoutOf(c.req.raw);
  const request = toRequest(decoded(await readMessageBytes(c.req.raw, 'stream'), codec));
  const submitted = await submitMessage(c.env, {
    ...senderOf(c),
    request,
    ephemeral: request.conversationId === undefined,
    unasking: true,
  });
  const stream = new ChatStream(codec);
  c.executionCtx.waitUntil(run(c, submitted, stream, timeoutMs));
  return new Response(stream.writer.readable, {
    headers: {
      'content-type': `application/connect+${codec}`,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'Drawbridge-Conversation-Id': submitted.caller.conversationId,
      'Drawbridge-Response-Id': submitted.responseId,
    },
  });
}

function decoded(bytes: Uint8Array, codec: Codec): GetChatRequest {
  try {
    return readChatRequest(bytes, codec);
  } catch {
    throw new ConnectRefusal('invalid_argument', `The message is no GetChatRequest as ${codec}`);
  }
}

/**
 * The call as a request of our own, by way of OpenAI's shape, which also brings the whole history. A conversation of ours
 * keeps its history: it gets only the last message.
 */
function toRequest(asked: GetChatRequest): ChatRequest {
  const { conversation, workspaceRootPath, modelDetails } = asked;
  const completion = CompletionRequest.safeParse({
    ...(modelDetails?.modelName && { model: modelDetails.modelName }),
    ...(workspaceRootPath !== '' && { context: { workspacePath: workspaceRootPath } }),
    messages: conversation.map(({ text, type }) => ({ role: ROLES.get(type), content: text })),
  });
  if (!completion.success)
    throw new ConnectRefusal('invalid_argument', problemIn(completion.error));
  const request = toChatRequest(completion.data);
  const conversationId = ConversationId.safeParse(asked.conversationId).data;
  if (conversationId === undefined) return request;
  return { ...request, conversationId, messages: request.messages.slice(-1) };
}

const ROLES = new Map<unknown, string>([
  ['MESSAGE_TYPE_HUMAN', 'user'],
  ['MESSAGE_TYPE_AI', 'assistant'],
]);

/** The first problem, with the name that the field has in the call. */
function problemIn(error: z.ZodError): string {
  const { message } = invalidRequest(error);
  return message
    .replace(/^messages/, 'conversation')
    .replace(
      /^(conversation\[\d+\])\.role: .*/s,
      '$1.type: must be MESSAGE_TYPE_HUMAN or MESSAGE_TYPE_AI',
    )
    .replaceAll('role user', 'type MESSAGE_TYPE_HUMAN');
}

/** Always ends the stream and closes the socket. Never throws. */
async function run(
  { env, req, var: { trace } }: Context<AppContext>,
  submitted: Submitted,
  stream: ChatStream,
  timeoutMs: number | null,
): Promise<void> {
  const { signal } = req.raw;
  const leave = () => stream.life.abort();
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  const timer = timeoutMs === null ? undefined : setTimeout(() => stream.end(TIMED_OUT), timeoutMs);
  try {
    const first = await attachFirst(env, submitted, 'json', 0, stream.life.signal);
    if (first.type === 'response') throw await refusalOf(first.response);
    await deliver(env, submitted, first, stream, stream.writer, stream.life);
  } catch (error) {
    logEvent('follow_failed', { trace, run: submitted.responseId, error });
  } finally {
    clearTimeout(timer);
  }
  if (!stream.isDone) await cancelRun(env, submitted);
  stream.end(errorOfEnding(LOST));
  await stream.writer.end(signal);
}

/** The messages of one answer. Text is written in pieces as it comes, and never taken back. */
class ChatStream implements DeliveryHandler {
  readonly framing = 'json';
  /** Takes bytes as text with one character for each byte. */
  readonly writer = new SseWriter(bytesOf);
  /** Aborted when the reader is gone, and when the stream has ended. */
  readonly life = new AbortController();
  readonly #codec: Codec;
  readonly #telling = new AnswerTelling();
  #isEnded = false;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /** Whether the run has ended. */
  get isDone(): boolean {
    return this.#telling.isDone;
  }

  /** Follows from the beginning each time: {@link AnswerTelling} skips what it has already told. */
  cursor(): number {
    return 0;
  }

  take(text: string): void {
    if (this.#isEnded) return;
    const { content, ending } = this.#telling.see(JSON.parse(text) as StreamEvent[]);
    if (content !== '') this.#write(content);
    if (ending) this.end(errorOfEnding(ending));
  }

  /** An empty piece. Without it, a client that has left is not noticed while tools run. */
  beat(): void {
    if (!this.#isEnded) this.#write('');
  }

  /** Ends the stream, once. */
  end(error: ConnectError | null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.writer.write(textOf(endEnvelope(error)));
    this.life.abort();
  }

  #write(text: string): void {
    this.writer.write(textOf(envelope(writeChatResponse(text, this.#codec))));
  }
}

function textOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
