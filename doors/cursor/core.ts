/** What the routes need of the Worker: its agents, for the sender of one request. */

import type { Context } from 'hono';
import type * as z from 'zod';
import type {
  Agent,
  AgentFollowUp,
  AgentList,
  AgentRequest,
  AgentsQuery,
} from '../../shared/api/agents.ts';
import type { AgentStatus } from '../../shared/api/conversations.ts';
import type { ChatResponse, ConversationView, Usage } from '../../shared/wire/documents.ts';
import type { Operation } from '../../worker/door.ts';

/** An endpoint of the Worker, whose handler gets the Worker's services for its request. */
export type Route = Operation & {
  handle(c: Context, core: Core): Response | Promise<Response>;
};

/** `id` is a conversation's id. Failures are DrawbridgeErrors; without more, NOT_FOUND where there is no such agent. */
export interface Core {
  readonly account: string;
  /** The address that the server names as its own. */
  readonly origin: string;
  /** Throws INVALID_REQUEST. */
  parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema>;
  /** Throws INVALID_JSON or INVALID_REQUEST. */
  readBody<Schema extends z.ZodType>(schema: Schema): Promise<z.output<Schema>>;
  /** With the request's Idempotency-Key. `newId` is the conversation's id; AGENT_ID_CONFLICT where there is one. */
  create(request: AgentRequest, newId: string | undefined): Promise<Agent>;
  /** With the request's Idempotency-Key. Throws CONVERSATION_BUSY and AGENT_ARCHIVED. */
  followUp(id: string, request: AgentFollowUp): Promise<{ readonly responseId: string }>;
  read(id: string): Promise<Agent>;
  archive(id: string, archived: boolean): Promise<unknown>;
  delete(id: string): Promise<void>;
  /** Throws INVALID_CURSOR. */
  list(query: AgentsPage): Promise<AgentList>;
  /** What each response has spent, the newest first. */
  usages(id: string): Promise<readonly SpentByResponse[]>;
  /** Null where the conversation has no such response. */
  response(id: string, ordinal: number): Promise<ChatResponse | null>;
  /** The newest responses before one; null where there is no such one. */
  responses(id: string, newest: NewestResponses): Promise<ConversationView | null>;
  cancel(id: string, ordinal: number): Promise<unknown>;
  /** Streams a response's events. `seen` is the client's position: INVALID_CURSOR where the response has none such. */
  stream(id: string, responseId: string, seen: number, open: OpenReader): Promise<Response>;
}

/** Absent `status`: all that are not archived. */
interface AgentsPage extends Omit<AgentsQuery, 'status'> {
  readonly status: AgentStatus | 'any' | undefined;
}

/** What a response has spent, with its subagents. */
export interface SpentByResponse {
  readonly responseId: string;
  readonly usage: Usage | null;
}

/** Responses from the newest to older ones; `before` excludes that one and those after it. */
export interface NewestResponses {
  readonly limit: number;
  readonly before: number | null;
}

/** `write` sends text to the client. `leave` ends the stream. */
export type OpenReader = (write: (text: string) => void, leave: () => void) => Reader;

/** Reads the events of one stream. No method may throw. */
export interface Reader {
  readonly framing: 'positioned';
  /** The position after the last event that was read. */
  cursor(): number;
  /** Takes the JSON of PositionedEvents. */
  take(text: string): void;
  beat(): void;
  /** `done`: the response is over. `lost`: it cannot be followed. Anything else: the client can come back. */
  finish(how: 'done' | 'gone' | 'stalled' | 'expired' | 'left' | 'lost'): Promise<void>;
}
