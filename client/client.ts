/** The typed client of the HTTP API, for Node, browsers and Workers. */
import type * as z from 'zod';
import {
  Agent,
  type AgentFollowUp,
  AgentList,
  type AgentRequest,
  type AgentsQuery,
  WebhookDeliveries,
} from '../shared/agents.ts';
import { Cancelled } from '../shared/answers.ts';
import {
  ConversationExport,
  ConversationInfo,
  ConversationList,
  type ConversationPatch,
  type ConversationQuery,
  type ConversationsQuery,
  Forked,
  Ticket,
  type TicketRequest,
} from '../shared/conversations.ts';
import { ChatResponse, ConversationView, type ResponseStatus } from '../shared/documents.ts';
import type { StreamEvent } from '../shared/events.ts';
import {
  ApprovalList,
  BridgeDetails,
  BridgeList,
  Me,
  ModelList,
  ToolList,
} from '../shared/listings.ts';
import { Plan, type PlanEdit } from '../shared/plans.ts';
import type {
  ApprovalRequest,
  ChatRequest,
  ClarificationAnswer,
  MessagePatch,
  PlanExecution,
  PlanFileExecution,
  PlanSave,
} from '../shared/requests.ts';
import { RuleReports } from '../shared/rules.ts';
import { UsageList, type UsageQuery } from '../shared/usage.ts';
import { type Clock, systemClock } from './clock.ts';
import { clientError } from './error.ts';
import { type FollowOptions, follow, type Positioned } from './follow.ts';
import { createSend, type Endpoint, type RequestParts, readJson, type Send } from './send.ts';

/** A chat request as a caller writes it. The client itself sets the fields of the transport. */
export type ChatInput = Omit<
  z.input<typeof ChatRequest>,
  'stream' | 'stream_options' | 'documents'
>;

/** A request to save a plan, in the same way. */
export type PlanSaveInput = Omit<
  z.input<typeof PlanSave>,
  'stream' | 'stream_options' | 'documents'
>;

/** A request to execute a plan of a file, in the same way. */
export type PlanFileInput = Omit<
  z.input<typeof PlanFileExecution>,
  'stream' | 'stream_options' | 'documents'
>;

/** The settings of a run that executes a plan, as a caller writes them. */
export type PlanInput = Omit<
  z.input<typeof PlanExecution>,
  'stream' | 'stream_options' | 'documents'
>;

/** The request for an agent, as a caller writes it. */
export type AgentInput = z.input<typeof AgentRequest>;

export interface KeyedOptions extends Pick<FollowOptions, 'signal'> {
  /** A second request with the same key gets the response of the first one; see docs/protocol.md. */
  readonly idempotencyKey?: string;
}

export interface SendOptions extends FollowOptions, KeyedOptions {}

/** Where a stream begins: after `cursor`, the position of the last event that the reader has seen. */
export interface FollowFrom extends FollowOptions {
  readonly cursor?: number | undefined;
}

/** An event stream that outlives its connections. {@link follow} documents how it ends and what it throws. */
export type EventStream = AsyncGenerator<Positioned, void, undefined>;

/** All methods reject with a ClientError, or with the reason of the signal they were given. */
export interface Client {
  /** Sends a message and waits for the whole answer. */
  chat(request: ChatInput, options?: SendOptions): Promise<ChatResponse>;
  /**
   * Sends a message and yields the events of its response up to `done`. If the sending fails, the stream throws: it
   * never sends twice, because the run may have begun. Leaving the loop does not end the run.
   */
  streamChat(request: ChatInput, options?: SendOptions): EventStream;
  /** The events of a response up to `done`, from the start or after a cursor. */
  followResponse(responseId: string, from?: FollowFrom): EventStream;
  /**
   * The events of a conversation; it ends only with the signal. If too much has happened since the cursor, one
   * `snapshot` comes instead, with the content of {@link getConversation}.
   */
  followConversation(conversationId: string, from?: FollowFrom): EventStream;
  getResponse(responseId: string, signal?: AbortSignal): Promise<ChatResponse>;
  getMe(signal?: AbortSignal): Promise<Me>;
  listModels(signal?: AbortSignal): Promise<ModelList>;
  listTools(signal?: AbortSignal): Promise<ToolList>;
  /** What was spent, by day and model. The oldest day comes first. */
  listUsage(query?: Partial<z.output<typeof UsageQuery>>, signal?: AbortSignal): Promise<UsageList>;
  /** The most recently connected bridge comes first. */
  listBridges(signal?: AbortSignal): Promise<BridgeList>;
  /** With the MCP servers of the bridge. */
  getBridge(bridgeId: string, signal?: AbortSignal): Promise<BridgeDetails>;
  /** The most recently answered conversation comes first. */
  listConversations(
    query?: Partial<z.output<typeof ConversationsQuery>>,
    signal?: AbortSignal,
  ): Promise<ConversationList>;
  /**
   * The newest part of a conversation, or the part before a response. `followConversation` continues from the
   * `position` of the newest part: fold its events into that part, not into an earlier one.
   */
  getConversation(
    conversationId: string,
    query?: Partial<z.output<typeof ConversationQuery>>,
    signal?: AbortSignal,
  ): Promise<ConversationView>;
  /** Which rules of the workspace applied to the newest response and why, and which did not. */
  getRules(conversationId: string, signal?: AbortSignal): Promise<RuleReports>;
  updateConversation(
    conversationId: string,
    patch: ConversationPatch,
    signal?: AbortSignal,
  ): Promise<ConversationInfo>;
  /** Ends the conversation's runs and deletes all its content. */
  deleteConversation(conversationId: string, signal?: AbortSignal): Promise<void>;
  /** A new conversation with everything up to the end of the response. */
  forkConversation(
    conversationId: string,
    responseId: string,
    signal?: AbortSignal,
  ): Promise<Forked>;
  exportConversation(conversationId: string, signal?: AbortSignal): Promise<ConversationExport>;
  exportMarkdown(conversationId: string, signal?: AbortSignal): Promise<string>;
  /** A ticket for one stream, for readers that cannot send a header. */
  createTicket(request: TicketRequest, signal?: AbortSignal): Promise<Ticket>;
  /**
   * Replaces the conversation's newest plan. Rejects with PLAN_CHANGED if `edit.version` is not the present version;
   * `details.plan` is then the present plan.
   */
  changePlan(
    conversationId: string,
    documentId: string,
    edit: z.input<typeof PlanEdit>,
    signal?: AbortSignal,
  ): Promise<Plan>;
  /** Has the conversation's newest plan executed, and yields the events of the response like {@link streamChat}. */
  executePlan(
    conversationId: string,
    documentId: string,
    request?: PlanInput,
    options?: SendOptions,
  ): EventStream;
  /** Has the newest plan saved as a file of the workspace. The bridge's owner is asked first. */
  savePlan(
    conversationId: string,
    documentId: string,
    request?: PlanSaveInput,
    options?: SendOptions,
  ): EventStream;
  /** Has the plan in a file of the workspace executed, in a new conversation or in `conversationId`. */
  executePlanFile(request: PlanFileInput, options?: SendOptions): EventStream;
  /** Starts an agent: a conversation with the same id that works without any client. Resolves at once. */
  createAgent(request: AgentInput, options?: KeyedOptions): Promise<Agent>;
  /** The agent that answered last comes first. */
  listAgents(
    query?: Partial<z.output<typeof AgentsQuery>>,
    signal?: AbortSignal,
  ): Promise<AgentList>;
  getAgent(agentId: string, signal?: AbortSignal): Promise<Agent>;
  /** Sends the agent a message. Resolves at once. */
  followUpAgent(
    agentId: string,
    request: z.input<typeof AgentFollowUp>,
    options?: KeyedOptions,
  ): Promise<Agent>;
  /** Cancels everything that the agent does. `archive` also puts it away. */
  changeAgent(
    agentId: string,
    change: 'stop' | 'archive' | 'unarchive',
    signal?: AbortSignal,
  ): Promise<Agent>;
  /** The events for the agent's webhook, the newest first. */
  listDeliveries(agentId: string, signal?: AbortSignal): Promise<WebhookDeliveries>;
  deleteAgent(agentId: string, signal?: AbortSignal): Promise<void>;
  /** Changes a message that still waits for its turn. `responseId` is the response that the message asks for. */
  editMessage(
    responseId: string,
    patch: z.input<typeof MessagePatch>,
    signal?: AbortSignal,
  ): Promise<Cancelled>;
  /** Cancels a run. The result has its status at this moment; the run's `done` says how it ended. */
  cancel(responseId: string, signal?: AbortSignal): Promise<Cancelled>;
  /** The calls that wait for approval, in all conversations. */
  listApprovals(signal?: AbortSignal): Promise<ApprovalList>;
  /** Answers an approval; a yes counts only with a signature (client/device.ts). */
  answerApproval(
    conversationId: string,
    callId: string,
    answer: ApprovalRequest,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Answers the questions of a `clarification`. The first answer counts. */
  answerClarification(
    conversationId: string,
    documentId: string,
    answer: z.input<typeof ClarificationAnswer>,
    signal?: AbortSignal,
  ): Promise<void>;
}

/** A client of one endpoint. It holds no connection and needs no closing. */
export function createClient(endpoint: Endpoint, clock: Clock = systemClock): Client {
  const send = createSend(endpoint);
  return {
    async chat(request, options) {
      const response = await send('chat/completions', chatParts(request, false, options));
      return await readJson(response, ChatResponse);
    },
    async *streamChat(request, options) {
      const opened = await send('chat/completions', chatParts(request, true, options));
      const source = responseSource(send, responseIdOf(opened));
      yield* follow({ ...source, opened }, clock, options);
    },
    async *executePlan(conversationId, documentId, request = {}, options = {}) {
      const path = `conversations/${conversationId}/plans/${documentId}/execute`;
      const opened = await send(path, chatParts(request, true, options));
      const source = responseSource(send, responseIdOf(opened));
      yield* follow({ ...source, opened }, clock, options);
    },
    async *savePlan(conversationId, documentId, request = {}, options = {}) {
      const path = `conversations/${conversationId}/plans/${documentId}/save`;
      const opened = await send(path, chatParts(request, true, options));
      const source = responseSource(send, responseIdOf(opened));
      yield* follow({ ...source, opened }, clock, options);
    },
    async *executePlanFile(request, options = {}) {
      const opened = await send('chat/plan/execute', chatParts(request, true, options));
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
    async listUsage(wanted = {}, signal) {
      return await readJson(await send('me/usage', { query: queryOf(wanted), signal }), UsageList);
    },
    async listBridges(signal) {
      return await readJson(await send('bridges', { signal }), BridgeList);
    },
    async getBridge(bridgeId, signal) {
      return await readJson(await send(`bridges/${bridgeId}`, { signal }), BridgeDetails);
    },
    async getResponse(responseId, signal) {
      return await readJson(await send(`chat/completions/${responseId}`, { signal }), ChatResponse);
    },
    async listConversations(wanted = {}, signal) {
      const parts = { query: queryOf(wanted), signal };
      return await readJson(await send('conversations', parts), ConversationList);
    },
    async getConversation(conversationId, wanted = {}, signal) {
      const parts = { query: queryOf(wanted), signal };
      const response = await send(`conversations/${conversationId}`, parts);
      return await readJson(response, ConversationView);
    },
    async getRules(conversationId, signal) {
      return await readJson(
        await send(`conversations/${conversationId}/rules`, { signal }),
        RuleReports,
      );
    },
    async updateConversation(conversationId, body, signal) {
      const parts = { method: 'PATCH', body, signal } as const;
      return await readJson(await send(`conversations/${conversationId}`, parts), ConversationInfo);
    },
    async deleteConversation(conversationId, signal) {
      await send(`conversations/${conversationId}`, { method: 'DELETE', signal });
    },
    async forkConversation(conversationId, responseId, signal) {
      const parts = { method: 'POST', body: { responseId }, signal } as const;
      return await readJson(await send(`conversations/${conversationId}/forks`, parts), Forked);
    },
    async exportConversation(conversationId, signal) {
      const response = await send(`conversations/${conversationId}/export`, { signal });
      return await readJson(response, ConversationExport);
    },
    async exportMarkdown(conversationId, signal) {
      const parts = { query: { format: 'markdown' }, signal };
      return await (await send(`conversations/${conversationId}/export`, parts)).text();
    },
    async createTicket(body, signal) {
      return await readJson(await send('tickets', { method: 'POST', body, signal }), Ticket);
    },
    async changePlan(conversationId, documentId, body, signal) {
      const parts = { method: 'PUT', body, signal } as const;
      const path = `conversations/${conversationId}/plans/${documentId}`;
      return await readJson(await send(path, parts), Plan);
    },
    async createAgent(body, options) {
      return await readJson(await send('agents', keyedParts(body, options)), Agent);
    },
    async listAgents(wanted = {}, signal) {
      return await readJson(await send('agents', { query: queryOf(wanted), signal }), AgentList);
    },
    async getAgent(agentId, signal) {
      return await readJson(await send(`agents/${agentId}`, { signal }), Agent);
    },
    async followUpAgent(agentId, body, options) {
      const parts = keyedParts(body, options);
      return await readJson(await send(`agents/${agentId}/followup`, parts), Agent);
    },
    async changeAgent(agentId, change, signal) {
      const parts = { method: 'POST', signal } as const;
      return await readJson(await send(`agents/${agentId}/${change}`, parts), Agent);
    },
    async listDeliveries(agentId, signal) {
      return await readJson(
        await send(`agents/${agentId}/deliveries`, { signal }),
        WebhookDeliveries,
      );
    },
    async deleteAgent(agentId, signal) {
      await send(`agents/${agentId}`, { method: 'DELETE', signal });
    },
    async editMessage(responseId, body, signal) {
      const parts = { method: 'PATCH', body, signal } as const;
      return await readJson(await send(`chat/completions/${responseId}`, parts), Cancelled);
    },
    async cancel(responseId, signal) {
      const path = `chat/completions/${responseId}/cancel`;
      return await readJson(await send(path, { method: 'POST', signal }), Cancelled);
    },
    async listApprovals(signal) {
      return await readJson(await send('approvals', { signal }), ApprovalList);
    },
    async answerApproval(conversationId, callId, body, signal) {
      const path = `conversations/${conversationId}/approvals/${callId}`;
      await send(path, { method: 'POST', body, signal });
    },
    async answerClarification(conversationId, documentId, body, signal) {
      const path = `conversations/${conversationId}/clarifications/${documentId}`;
      await send(path, { method: 'POST', body, signal });
    },
  };
}

/** The query without its undefined fields. */
function queryOf(wanted: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

function chatParts(
  request: ChatInput | PlanInput | PlanSaveInput | PlanFileInput,
  stream: boolean,
  options?: SendOptions,
): RequestParts {
  return keyedParts({ ...request, stream }, options);
}

function keyedParts(body: object, { signal, idempotencyKey }: KeyedOptions = {}): RequestParts {
  return {
    method: 'POST',
    body,
    signal,
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
  };
}

function responseSource(send: Send, responseId: string) {
  return { open: openEvents(send, `chat/completions/${responseId}/events`), isLast: endsResponse };
}

/** The cursor is in the query: CORS would have to allow a `Last-Event-ID` header. */
function openEvents(send: Send, path: string) {
  return (cursor: number | undefined, signal: AbortSignal) =>
    send(path, { ...(cursor !== undefined && { query: { after: String(cursor) } }), signal });
}

/** A snapshot may show a response that has already ended; no `done` follows it then. */
function endsResponse(event: StreamEvent): boolean {
  if (event.type === 'done') return true;
  if (event.type !== 'snapshot' || event.snapshot.scope !== 'response') return false;
  return ENDED.has(event.snapshot.response.status);
}

const ENDED: ReadonlySet<ResponseStatus> = new Set(['completed', 'error', 'cancelled']);

/** Read from the header, so that the client can follow a stream that was cut before its first event. */
function responseIdOf(response: Response): string {
  const id = response.headers.get('Drawbridge-Response-Id');
  if (id) return id;
  throw clientError('BAD_ANSWER', 'The answer lacks the header Drawbridge-Response-Id');
}
