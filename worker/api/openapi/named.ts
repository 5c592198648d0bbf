/** Every schema that has a name in the document. */
import * as z from 'zod';
import { ApprovalTaken, Cancelled, ClarificationTaken, Health } from '../../../shared/answers.ts';
import { Asked, Nonce, Proposal } from '../../../shared/approvals.ts';
import { AttentionItem } from '../../../shared/attention.ts';
import {
  ConversationExport,
  ConversationInfo,
  ConversationList,
  ConversationPatch,
  Forked,
  ForkRequest,
  Ticket,
  TicketRequest,
} from '../../../shared/conversations.ts';
import {
  Answer,
  ChatResponse,
  ConversationView,
  Diff,
  Document,
  DocumentMetadata,
  DocumentType,
  Metadata,
  Question,
  ResponseMetadata,
  ResponseStatus,
  Todo,
  TodoStatus,
  ToolOutcome,
  UnavailableTool,
  Usage,
  UserMessage,
} from '../../../shared/documents.ts';
import { ErrorCode, WireError } from '../../../shared/errors.ts';
import { StreamEvent } from '../../../shared/events.ts';
import {
  BridgeId,
  CallId,
  ConversationId,
  DeviceId,
  DocumentId,
  ResponseId,
} from '../../../shared/ids.ts';
import { BridgeInfo, BridgeList, Me, ModelList, ToolList } from '../../../shared/listings.ts';
import { Effect, Mode } from '../../../shared/modes.ts';
import { AnyResponse, PlainDocument, PlainResponse } from '../../../shared/plain-documents.ts';
import {
  ApprovalRequest,
  ChatMessage,
  ChatRequest,
  ClarificationAnswer,
  Framing,
  MessagePatch,
  PlanRequest,
  RequestContext,
} from '../../../shared/requests.ts';
import { ToolSelection } from '../../../shared/tools/selection.ts';
import { Confinement } from '../../../shared/tunnel.ts';
import { CompletionRequest } from '../../openai/request.ts';
import {
  ChatAnswer,
  ChatCompletion,
  ChatCompletionChunk,
  Model,
  Models,
  OpenAiFailure,
} from '../../openai/schemas.ts';

/** As much of the document's own form as a reader must know to begin. */
export const OpenApi = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.unknown()),
});

/** What any document can carry beside its own metadata: while it waits, when its call failed, and after a crash. */
const BESIDE = z.object({
  approval: Asked.extend({ reason: z.string() }).optional(),
  awaiting: z.boolean().optional(),
  result: ToolOutcome.optional(),
  interrupted: z.boolean().optional(),
});

/**
 * A document by its type. The wire's own schema leaves the metadata open, because it grows while the document streams;
 * here each type says what it grows to.
 */
const DOCUMENTS = DocumentType.options.map((type) =>
  Document.extend({
    type: z.literal(type),
    metadata: BESIDE.extend(DocumentMetadata[type].partial().shape),
  }),
);

/** Takes the place of `Document` in the document. */
const TypedDocument = z.discriminatedUnion(
  'type',
  DOCUMENTS as [(typeof DOCUMENTS)[number], ...typeof DOCUMENTS],
);

/** Under this name `Document` is told by its types. */
export const TYPED = 'TypedDocument';

export const NAMED: Readonly<Record<string, z.ZodType>> = {
  ...{ BridgeId, CallId, ConversationId, DeviceId, DocumentId, ResponseId },
  ...{ Mode, Effect, Framing, ErrorCode, WireError, Health, OpenApi },
  ...{ ChatRequest, PlanRequest, MessagePatch, ChatMessage, RequestContext, ToolSelection },
  ...{ ChatResponse, Document, DocumentType, ResponseStatus, ResponseMetadata, Usage, Cancelled },
  ...{ UnavailableTool, PlainDocument, PlainResponse, AnyResponse },
  ...{ Metadata, ToolOutcome, AttentionItem, Diff, Todo, TodoStatus, Question, Answer },
  ...{ ConversationList, ConversationInfo, ConversationPatch, ConversationView, UserMessage },
  ...{ ConversationExport, ForkRequest, Forked, TicketRequest, Ticket },
  ...{ Nonce, Proposal, ApprovalRequest, ApprovalTaken, ClarificationAnswer, ClarificationTaken },
  ...{ Me, ModelList, ToolList, BridgeList, BridgeInfo, Confinement },
  ...{ [TYPED]: TypedDocument, StreamEvent, ...eventsByName() },
  ...Object.fromEntries(DOCUMENTS.map((schema) => [nameOf(schema, 'Document'), schema])),
  ...{ CompletionRequest, ChatAnswer, ChatCompletion, ChatCompletionChunk },
  ...{ Models, Model, OpenAiFailure },
};

function eventsByName(): Record<string, z.ZodType> {
  return Object.fromEntries(StreamEvent.options.map((schema) => [nameOf(schema, 'Event'), schema]));
}

/** `ToolCallStartEvent` for the schema of type `tool_call_start`. */
function nameOf({ shape }: z.ZodObject<{ type: z.ZodLiteral<string> }>, kind: string): string {
  const words = shape.type.value.split('_');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') + kind;
}
