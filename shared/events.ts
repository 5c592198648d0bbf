/** The events of a tape: what happened in a conversation, in the order it happened. */
import * as z from 'zod';
import { Asked } from './approvals.ts';
import { AttentionItem } from './attention.ts';
import {
  ChatResponse,
  ConversationView,
  Metadata,
  Question,
  ReadDocumentType,
  ResponseMetadata,
  ResponseStatus,
  ToolOutcome,
  Usage,
  UserMessage,
} from './documents.ts';
import { CallId, ConversationId, DocumentId, ResponseId } from './ids.ts';
import { Mode } from './modes.ts';

const Message = z.object({ type: z.literal('message'), message: UserMessage });

/** A message that still waited says something else now. */
const MessageUpdate = z.object({
  type: z.literal('message_update'),
  responseId: ResponseId,
  content: z.string(),
  imageCount: z.int().positive().optional(),
});

/** From here on the model knows the messages that steered this response and that it had not known before. */
const Steered = z.object({ type: z.literal('steered'), responseId: ResponseId });

const ResponseStart = z.object({
  type: z.literal('response_start'),
  response: z.object({
    id: ResponseId,
    conversationId: ConversationId,
    model: z.string(),
    mode: Mode,
    created: z.iso.datetime(),
    /** What is known of it at the start. */
    metadata: ResponseMetadata.pick({ unavailableTools: true }).optional(),
  }),
});

/** From here on another model answers: the one before it could not. */
const ResponseModel = z.object({ type: z.literal('response_model'), model: z.string() });

/** The conversation nears what the model can hold: what is older is told to it as a summary from here on. */
const ContextSummary = z.object({
  type: z.literal('context_summary'),
  responseId: ResponseId,
  /** `failed`: the model gave none, and a list of what was done stands in for it. */
  status: z.enum(['running', 'completed', 'failed']),
});

const DocumentStart = z.object({
  type: z.literal('document_start'),
  document: z.object({
    id: DocumentId,
    type: ReadDocumentType,
    sequence: z.int().positive(),
    /** What is known of the metadata at the start. */
    metadata: Metadata.optional(),
  }),
});

const ContentDelta = z.object({
  type: z.literal('content_delta'),
  documentId: DocumentId,
  delta: z.string(),
});

const ToolCallStart = z.object({
  type: z.literal('tool_call_start'),
  documentId: DocumentId,
  toolName: z.string(),
  toolCallId: CallId,
});

const ToolCallArguments = z.object({
  type: z.literal('tool_call_arguments'),
  documentId: DocumentId,
  arguments: Metadata,
});

const ToolOutput = z.object({
  type: z.literal('tool_output'),
  documentId: DocumentId,
  delta: z.string(),
});

const ToolResult = z.object({
  type: z.literal('tool_result'),
  documentId: DocumentId,
  result: ToolOutcome,
});

const DocumentEnd = z.object({
  type: z.literal('document_end'),
  documentId: DocumentId,
  /** The whole content. Put in when the event is sent; the tape does not store it twice. */
  finalContent: z.string().optional(),
  /** What became known since `document_start`; laid over the metadata so far. */
  metadata: Metadata.optional(),
});

/** A command left something behind that concerns a person, whatever the model says of it. Its document holds it too. */
const Attention = z.object({
  type: z.literal('attention'),
  documentId: DocumentId,
  items: z.array(AttentionItem),
});

/** A person is asked. The proposal is what a device shows and signs (shared/approvals.ts). */
const ApprovalRequest = z.object({
  type: z.literal('approval_request'),
  documentId: DocumentId,
  ...Asked.shape,
  /** Why the bridge asks, in one sentence. */
  reason: z.string(),
});

const ApprovalResolved = z.object({
  type: z.literal('approval_resolved'),
  documentId: DocumentId,
  callId: CallId,
  /** `superseded`: the question no longer says what would happen. Another one follows, and answers to this one are void. */
  decision: z.enum(['once', 'reject', 'expired', 'superseded']),
  /** Where it was answered: `device`, `terminal`, or `drawbridge` where nobody did. Later versions may know more places. */
  by: z.string(),
  message: z.string().optional(),
});

/** The run waits for a person to answer; the document's end tells what they said. */
const ClarificationRequest = z.object({
  type: z.literal('clarification_request'),
  documentId: DocumentId,
  questions: z.array(Question),
});

/** The conversation was renamed, archived or taken out of the archive. */
const ConversationUpdate = z.object({
  type: z.literal('conversation_update'),
  title: z.string(),
  archived: z.boolean(),
});

const Done = z.object({
  type: z.literal('done'),
  responseId: ResponseId,
  status: ResponseStatus,
  usage: Usage.nullable(),
  metadata: ResponseMetadata,
});

/** What the tape stores. Document events belong to the response of the last `response_start` before them. */
export const TapeEvent = z.discriminatedUnion('type', [
  Message,
  MessageUpdate,
  Steered,
  ResponseStart,
  ResponseModel,
  ContextSummary,
  DocumentStart,
  ContentDelta,
  ToolCallStart,
  ToolCallArguments,
  ToolOutput,
  ToolResult,
  DocumentEnd,
  Attention,
  ApprovalRequest,
  ApprovalResolved,
  ClarificationRequest,
  ConversationUpdate,
  Done,
]);
export type TapeEvent = z.infer<typeof TapeEvent>;

/** Replaces the reader's copy of the response, or of the conversation: of that it holds the newest part. */
const Snapshot = z.object({
  type: z.literal('snapshot'),
  snapshot: z.discriminatedUnion('scope', [
    z.object({ scope: z.literal('response'), response: ChatResponse }),
    z.object({ scope: z.literal('conversation'), conversation: ConversationView }),
  ]),
});

/** Every 15 s, without an id: a client that hears nothing for 35 s reconnects. */
const Heartbeat = z.object({ type: z.literal('heartbeat') });

/** Everything a reader of a stream can meet; only tape events take part in positions. */
export const StreamEvent = z.discriminatedUnion('type', [
  ...TapeEvent.options,
  Snapshot,
  Heartbeat,
]);
export type StreamEvent = z.infer<typeof StreamEvent>;

/** A delta can be cut and merged; every other event is one thing. */
export type DeltaEvent = Extract<TapeEvent, { delta: string }>;

export function isDelta(event: StreamEvent): event is DeltaEvent {
  return event.type === 'content_delta' || event.type === 'tool_output';
}

/** How far an event moves the tape: a delta by its UTF-16 units, any other event by one. */
export function widthOf(event: TapeEvent): number {
  return isDelta(event) ? event.delta.length : 1;
}

/** The response that an event belongs to, where it stands after the `response_start` of `current`. */
export function responseOf(event: StreamEvent, current: string | null): string | null {
  switch (event.type) {
    case 'message':
      return event.message.responseId;
    case 'response_start':
      return event.response.id;
    case 'message_update':
    case 'steered':
    case 'context_summary':
    case 'done':
      return event.responseId;
    case 'conversation_update':
      return null;
    default:
      return current;
  }
}
