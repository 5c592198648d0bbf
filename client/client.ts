/** The typed client of the HTTP API, for Node, browsers and Workers. */
import { z } from 'zod';
import { ChatResponse, ConversationView, ResponseStatus } from '../shared/documents.ts';
import type { StreamEvent } from '../shared/events.ts';
import { BridgeList, Me, ModelList, ToolList } from '../shared/listings.ts';
import type { ApprovalRequest, ChatRequest } from '../shared/requests.ts';
import { type Clock, systemClock } from './clock.ts';
import { clientError } from './error.ts';
import { type FollowOptions, follow, type Positioned } from './follow.ts';
import { createSend, type Endpoint, readJson, type Send } from './send.ts';

/** A chat request as a caller writes it; how it travels is the client's affair. */
export type ChatInput = Omit<z.input<typeof ChatRequest>, 'stream' | 'stream_options'>;

/** Where a reader stands: the position of the last event it has seen. */
export interface FollowFrom extends FollowOptions {
  readonly cursor?: number | undefined;
}

/** An event stream that outlives its connections; see {@link follow} for how it ends and what it throws. */
export type EventStream = AsyncGenerator<Positioned, void, undefined>;

/** All methods reject with a ClientError, or with the reason of the signal they were given. */
export interface Client {
  /** Sends a message and waits for the whole answer. */
  chat(request: ChatInput, signal?: AbortSignal): Promise<ChatResponse>;
  /**
   * Sends a message and yields the events of its response up to `done`. The sending itself is never repeated, since
   * the run may have begun: when it fails, the stream throws. Leaving the loop leaves the run at work.
   */
  streamChat(request: ChatInput, options?: FollowOptions): EventStream;
  /** The events of a response up to `done`, from the start or after a cursor. */
  followResponse(responseId: string, from?: FollowFrom): EventStream;
  /** The events of a whole conversation; it ends only with the signal. */
  followConversation(conversationId: string, from?: FollowFrom): EventStream;
  getResponse(responseId: string, signal?: AbortSignal): Promise<ChatResponse>;
  getMe(signal?: AbortSignal): Promise<Me>;
  listModels(signal?: AbortSignal): Promise<ModelList>;
  listTools(signal?: AbortSignal): Promise<ToolList>;
  /** The bridge that connected last comes first. */
  listBridges(signal?: AbortSignal): Promise<BridgeList>;
  getConversation(conversationId: string, signal?: AbortSignal): Promise<ConversationView>;
  /** Ends a run. Its status is the one at this moment: the run's own `done` says how it really ended. */
  cancel(responseId: string, signal?: AbortSignal): Promise<Cancelled>;
  /** Answers an approval; a yes counts only with a signature (client/device.ts). */
  answerApproval(
    conversationId: string,
    callId: string,
    answer: ApprovalRequest,
    signal?: AbortSignal,
  ): Promise<void>;
}

const Cancelled = z.object({ id: z.string(), status: ResponseStatus });
export type Cancelled = z.infer<typeof Cancelled>;

/** A client of one endpoint. It holds no connection and needs no closing. */
export function createClient(endpoint: Endpoint, clock: Clock = systemClock): Client {
  const send = createSend(endpoint);
  return {
    async chat(request, signal) {
      const body = { ...request, stream: false };
      const response = await send('chat/completions', { method: 'POST', body, signal });
      return await readJson(response, ChatResponse);
    },
    async *streamChat(request, options) {
      const body = { ...request, stream: true };
      const signal = options?.signal;
      const opened = await send('chat/completions', { method: 'POST', body, signal });
      const source = responseSource(send, responseIdOf(opened));
      yield* follow({ ...source, opened }, clock, options);
    },
    followResponse(responseId, { cursor, ...options } = {}) {
      return follow({ ...responseSource(send, responseId), cursor }, clock, options);
    },
    followConversation(conversationId, { cursor, ...options } = {}) {
      const open = openEvents(send, `conversations/${conversationId}/events`);
      return follow({ open, cursor, isLast: () => false }, clock, options);
    },
    async getMe(signal) {
      return await readJson(await send('me', { signal }), Me);
    },
    async listModels(signal) {
      return await readJson(await send('models', { signal }), ModelList);
    },
    async listTools(signal) {
      return await readJson(await send('tools', { signal }), ToolList);
    },
    async listBridges(signal) {
      return await readJson(await send('bridges', { signal }), BridgeList);
    },
    async getResponse(responseId, signal) {
      return await readJson(await send(`chat/completions/${responseId}`, { signal }), ChatResponse);
    },
    async getConversation(conversationId, signal) {
      const response = await send(`conversations/${conversationId}`, { signal });
      return await readJson(response, ConversationView);
    },
    async cancel(responseId, signal) {
      const path = `chat/completions/${responseId}/cancel`;
      return await readJson(await send(path, { method: 'POST', signal }), Cancelled);
    },
    async answerApproval(conversationId, callId, body, signal) {
      const path = `conversations/${conversationId}/approvals/${callId}`;
      await send(path, { method: 'POST', body, signal });
    },
  };
}

function responseSource(send: Send, responseId: string) {
  return { open: openEvents(send, `chat/completions/${responseId}/events`), isLast: endsResponse };
}

/** The cursor travels in the query: a `Last-Event-ID` header would need its own leave from CORS. */
function openEvents(send: Send, path: string) {
  return (cursor: number | undefined, signal: AbortSignal) =>
    send(path, { ...(cursor !== undefined && { query: { after: String(cursor) } }), signal });
}

/** A snapshot may be of a response that ended while nobody was connected; then no `done` follows it. */
function endsResponse(event: StreamEvent): boolean {
  if (event.type === 'done') return true;
  if (event.type !== 'snapshot' || event.snapshot.scope !== 'response') return false;
  return ENDED.has(event.snapshot.response.status);
}

const ENDED: ReadonlySet<ResponseStatus> = new Set(['completed', 'error', 'cancelled']);

/** Known before the first event, so that a stream cut at its very start can be found again. */
function responseIdOf(response: Response): string {
  const id = response.headers.get('Drawbridge-Response-Id');
  if (id) return id;
  throw clientError('BAD_ANSWER', 'The answer lacks the header Drawbridge-Response-Id');
}
