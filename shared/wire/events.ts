/** The events of a tape: what happened in a conversation, in order. */
import * as z from 'zod';
import { CallId, ConversationId, DocumentId, ResponseId } from '../ids.ts';
import { named } from '../named.ts';
import { Asked, Lasting, Scope } from './approvals.ts';
import { AttentionItem } from './attention.ts';
import { BudgetState } from './budget.ts';
import {
  AttachedMention,
  ChatResponse,
  ConversationView,
  Metadata,
  ModelWaitState,
  Question,
  ReadDocumentType,
  ResponseMetadata,
  ResponseStatus,
  SpentSoFar,
  ToolOutcome,
  Usage,
  UserMessage,
} from './documents.ts';
import { Mode } from './modes.ts';
import { PlanState } from './plans.ts';
import { SubagentAsk, SubagentState } from './subagents.ts';

const Message = z.object({ type: z.literal('message'), message: UserMessage });

/** The content of a waiting message has changed. */
const MessageUpdate = ofResponse('message_update', {
  content: z.string(),
  imageCount: z.int().positive().optional(),
});

/** From here on the model knows all messages that steer this response. */
const Steered = ofResponse('steered', {});

/** More of what the messages to this response mention was looked up. It joins `metadata.attachments`. */
const Attached = ofResponse('attached', { attachments: z.array(AttachedMention) });

const ResponseStart = z.object({
  type: z.literal('response_start'),
  response: z.object({
    id: ResponseId,
    conversationId: ConversationId,
    model: z.string(),
    mode: Mode,
    ownMode: z.string().optional(),
    created: z.iso.datetime(),
    /** The metadata that is known at the start. */
    metadata: ResponseMetadata.pick({ unavailableTools: true, attachments: true }).optional(),
  }),
});

/** From here on another model answers, because the one before it could not. */
const ResponseModel = z.object({ type: z.literal('response_model'), model: z.string() });

/** The model server could not answer, and is asked again at this time. Sent only for a wait of a second or longer. */
const ModelWait = ofResponse('model_wait', { wait: ModelWaitState });

/** A person has let the agent go on in another mode, as it proposed. Without `ownMode` it is the built-in mode. */
const ModeUpdate = ofResponse('mode_update', { mode: Mode, ownMode: z.string().optional() });

/** The conversation nears the model's context window: from here on the model gets a summary of the older part. */
const ContextSummary = ofResponse('context_summary', {
  /** `failed`: the model gave no summary, and a list of past actions replaces it. */
  status: z.enum(['running', 'completed', 'failed']),
});

/** The response nears its budget. The model gets a note with its next request. */
const BudgetNear = ofResponse('budget_near', { budget: BudgetState });

const DocumentStart = z.object({
  type: z.literal('document_start'),
  document: z.object({
    id: DocumentId,
    type: ReadDocumentType,
    sequence: z.int().positive(),
    /** The metadata that is known at the start. */
    metadata: Metadata.optional(),
  }),
});

const ContentDelta = ofDocument('content_delta', { delta: z.string() });

const ToolCallStart = ofDocument('tool_call_start', { toolName: z.string(), toolCallId: CallId });

const ToolCallArguments = ofDocument('tool_call_arguments', { arguments: Metadata });

const ToolOutput = ofDocument('tool_output', { delta: z.string() });

const ToolResult = ofDocument('tool_result', { result: ToolOutcome });

const DocumentEnd = ofDocument('document_end', {
  /** The whole content, added by the sender. Stored only where it differs from what was streamed. */
  finalContent: z.string().optional(),
  /** What became known since `document_start`. It replaces equal fields of the metadata so far. */
  metadata: Metadata.optional(),
});

/** A command left something behind that a person must see even if the model omits it. Its document has it too. */
const Attention = ofDocument('attention', { items: z.array(AttentionItem) });

/** The bridge asks a person. A device shows and signs the proposal (shared/wire/approvals.ts). */
const ApprovalRequest = ofDocument('approval_request', {
  ...Asked.shape,
  /** Why the bridge asks, in one sentence. */
  reason: z.string(),
  newText: z.string().optional(),
  /** Absent where a yes counts for this call alone. */
  lasting: Lasting.optional(),
});

const ApprovalResolved = ofDocument('approval_resolved', {
  callId: CallId,
  /** `superseded`: the proposal is out of date. Another question follows, and answers to this one are void. */
  decision: z.enum(['once', 'reject', 'expired', 'superseded']),
  /** The place of the answer: `device`, `terminal`, or `drawbridge` without an answer. Later versions may add more. */
  by: z.string(),
  /** For a `once` that reaches farther than the call. */
  scope: Scope.optional(),
  message: z.string().optional(),
});

/** `metadata.answered` of a document whose approval is over: how, and where the answer came from. */
export const AnsweredApproval = ApprovalResolved.pick({ by: true, scope: true }).extend({
  decision: ApprovalResolved.shape.decision.exclude(['superseded']),
});
export type AnsweredApproval = z.infer<typeof AnsweredApproval>;

/** The run waits for a person's answers. The document's end brings them. */
const ClarificationRequest = ofDocument('clarification_request', { questions: z.array(Question) });

/** The run waits for the app, whose own tool this call is of. The document's end has the result. */
const ClientCall = ofDocument('client_call', {
  /** Absent where the model server reports nothing. */
  spent: SpentSoFar.optional(),
});

/** The state of the subagent that the document's call started. */
const SubagentUpdate = ofDocument('subagent_update', { subagent: SubagentState });

/** The document's subagent, or one below it, waits for a person. */
const SubagentAsked = ofDocument('subagent_ask', { ask: SubagentAsk });

/** A question of a `subagent_ask` waits no more. `key` is that of askKeyOf (shared/wire/fold.ts). The document's end ends all. */
const SubagentAnswered = ofDocument('subagent_answered', { key: z.string() });

/** A person changed the plan: the document's new title, overview, text and todos. It may be in an ended response. */
const PlanUpdate = ofResponse('plan_update', { documentId: DocumentId, plan: PlanState });

/** The conversation was titled, renamed, archived or unarchived. */
const ConversationUpdate = z.object({
  type: z.literal('conversation_update'),
  title: z.string(),
  archived: z.boolean(),
  /** What it took a model to make the title; absent otherwise. No response counts it. */
  usage: Usage.optional(),
});

const Done = ofResponse('done', {
  status: ResponseStatus,
  usage: Usage.nullable(),
  metadata: ResponseMetadata,
});

/** An event of the response with this id. */
function ofResponse<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.object({ type: z.literal(type), responseId: ResponseId }).extend(fields);
}

/** An event of the document with this id. */
function ofDocument<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.object({ type: z.literal(type), documentId: DocumentId }).extend(fields);
}

/** The events that the tape stores. Document events belong to the response of the last `response_start` before them. */
export const TapeEvent = z.discriminatedUnion('type', [
  Message,
  MessageUpdate,
  Steered,
  Attached,
  ResponseStart,
  ResponseModel,
  ModelWait,
  ModeUpdate,
  ContextSummary,
  BudgetNear,
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
  ClientCall,
  SubagentUpdate,
  SubagentAsked,
  SubagentAnswered,
  PlanUpdate,
  ConversationUpdate,
  Done,
]);
export type TapeEvent = z.infer<typeof TapeEvent>;

/** Replaces the reader's copy of the response, or of the conversation's newest part. */
const Snapshot = z.object({
  type: z.literal('snapshot'),
  snapshot: z.discriminatedUnion('scope', [
    z.object({ scope: z.literal('response'), response: ChatResponse }),
    z.object({ scope: z.literal('conversation'), conversation: ConversationView }),
  ]),
});

/** Sent every 15 s, without an id. A client that gets nothing for 35 s reconnects. */
export const Heartbeat = z.object({ type: z.literal('heartbeat') });

/** Every event that a stream can bring. Only tape events have positions. */
export const StreamEvent = z.discriminatedUnion('type', [
  ...TapeEvent.options,
  Snapshot,
  Heartbeat,
]);
named.add(StreamEvent, { id: 'StreamEvent' });
export type StreamEvent = z.infer<typeof StreamEvent>;

/** An event as a client of another version reads it: one that it does not know is kept as it came. */
export type ReadEvent = StreamEvent | UnknownEvent;

/** An event whose type or form this version does not know. Readers let it pass. */
export interface UnknownEvent {
  readonly type: 'unknown';
  /** Its type on the wire. */
  readonly name: string;
  /** Its JSON; the text itself if it is not JSON. */
  readonly data: unknown;
}

/** A delta can be split and merged; every other event is indivisible. */
export type DeltaEvent = Extract<TapeEvent, { delta: string }>;

export function isDelta(event: { readonly type: string }): event is DeltaEvent {
  return event.type === 'content_delta' || event.type === 'tool_output';
}

/** How far an event advances the position: a delta by its UTF-16 units, any other event by one. */
export function widthOf(event: TapeEvent): number {
  return isDelta(event) ? event.delta.length : 1;
}

/** The response that an event belongs to, if it comes after the `response_start` of `current`. */
export function responseOf(event: StreamEvent, current: string | null): string | null {
  switch (event.type) {
    case 'message':
      return event.message.responseId;
    case 'response_start':
      return event.response.id;
    case 'message_update':
    case 'steered':
    case 'attached':
    case 'context_summary':
    case 'budget_near':
    case 'model_wait':
    case 'mode_update':
    case 'plan_update':
    case 'done':
      return event.responseId;
    case 'conversation_update':
      return null;
    case 'response_model':
    case 'document_start':
    case 'snapshot':
    case 'heartbeat':
      return current;
    default:
      event satisfies { readonly documentId: string };
      return current;
  }
}
