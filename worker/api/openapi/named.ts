/** Every schema that has a name in the document. */

import * as z from 'zod';
import { CURSOR_SCHEMAS } from '../../../cursor/index.ts';
import { AccountEvent } from '../../../shared/api/account-events.ts';
import {
  AccountExportLine,
  AccountPatch,
  AccountStanding,
  AccountState,
} from '../../../shared/api/accounts.ts';
import {
  Agent,
  AgentFollowUp,
  AgentInfo,
  AgentList,
  AgentRequest,
  DeliveryState,
  WebhookDeliveries,
  WebhookDelivery,
} from '../../../shared/api/agents.ts';
import {
  ApprovalTaken,
  Cancelled,
  ClarificationTaken,
  Health,
  MessageImages,
  StreamTest,
} from '../../../shared/api/answers.ts';
import {
  AgentStatus,
  ConversationExport,
  ConversationInfo,
  ConversationList,
  ConversationPatch,
  Forked,
  ForkRequest,
  Ticket,
  TicketRequest,
} from '../../../shared/api/conversations.ts';
import {
  AppKey,
  AppToken,
  KeyList,
  KeyRequest,
  KeyTerms,
  NewKey,
  Right,
  TokenRequest,
} from '../../../shared/api/keys.ts';
import { LeftQuery, LeftReport } from '../../../shared/api/left.ts';
import {
  ApprovalList,
  BridgeDetails,
  BridgeInfo,
  BridgeList,
  BridgeMove,
  McpServerInfo,
  Me,
  MePatch,
  ModelList,
  ToolList,
} from '../../../shared/api/listings.ts';
import { NewPasskey, Passkey, PasskeyList, PasskeyLogin } from '../../../shared/api/passkeys.ts';
import { AnyResponse, PlainDocument, PlainResponse } from '../../../shared/api/plain-documents.ts';
import {
  BrowserSubscription,
  NtfyTopic,
  PushKinds,
  PushRequest,
  PushState,
} from '../../../shared/api/push.ts';
import { ActRecord, ActRecordList, RecordAction } from '../../../shared/api/records.ts';
import {
  ApprovalRequest,
  ChatMessage,
  ChatRequest,
  ClarificationAnswer,
  CompactRequest,
  Framing,
  MessagePatch,
  PlanExecution,
  PlanFileExecution,
  PlanRequest,
  PlanSave,
  RequestContext,
  UndoRequest,
} from '../../../shared/api/requests.ts';
import {
  Invitation,
  InvitationList,
  Login,
  LoginDecision,
  LoginRequest,
  LoginView,
  NewSession,
  PendingInvitation,
  Session,
  SessionKey,
  SessionKind,
  SessionList,
  SessionRequest,
  SessionToken,
  SessionTokenRequest,
} from '../../../shared/api/sessions.ts';
import { UsageEntry, UsageList } from '../../../shared/api/usage.ts';
import { ErrorCode, WireError } from '../../../shared/errors.ts';
import {
  BridgeId,
  CallId,
  ConversationId,
  DeviceId,
  DocumentId,
  ResponseId,
} from '../../../shared/ids.ts';
import { ToolSelection } from '../../../shared/tools/selection.ts';
import { Nonce, OpenApproval, Proposal, Signature } from '../../../shared/wire/approvals.ts';
import { AttentionItem } from '../../../shared/wire/attention.ts';
import { Budget, BudgetState, Cost } from '../../../shared/wire/budget.ts';
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
} from '../../../shared/wire/documents.ts';
import { EnrolmentRequest } from '../../../shared/wire/enrolment.ts';
import { AnsweredApproval, StreamEvent } from '../../../shared/wire/events.ts';
import { FoundFile, FoundFiles } from '../../../shared/wire/files.ts';
import { AccountGrant } from '../../../shared/wire/grants.ts';
import { Effect, Mode } from '../../../shared/wire/modes.ts';
import { Assertion, PasskeyPlace, PasskeySignature } from '../../../shared/wire/passkey.ts';
import { Plan, PlanEdit, PlanState } from '../../../shared/wire/plans.ts';
import { MachinePolicy, PolicyRule } from '../../../shared/wire/policy.ts';
import { PortRequest, ProcessInfo, ProcessList } from '../../../shared/wire/processes.ts';
import { LeftOutRule, RuleKind, RuleReport, RuleReports } from '../../../shared/wire/rules.ts';
import { ReportedConfinement } from '../../../shared/wire/tunnel.ts';
import { CompletionRequest } from '../../openai/request.ts';
import { ResponsesRequest } from '../../openai/responses/request.ts';
import * as responsesSchemas from '../../openai/responses/schemas.ts';
import * as openAiSchemas from '../../openai/schemas.ts';
import { UiChatRequest } from '../../ui-messages/request.ts';
import { UiMessageChunk } from '../../ui-messages/routes.ts';

/** The schema of the OpenAPI document itself, as far as a reader needs it. */
export const OpenApi = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.unknown()),
});

/** Metadata that any type of document can have: while it waits, once it was answered, when its call failed, and after a crash. */
const BESIDE = z.object({
  approval: OpenApproval.omit({
    conversationId: true,
    title: true,
    responseId: true,
    documentId: true,
  }).optional(),
  answered: AnsweredApproval.optional(),
  awaiting: z.boolean().optional(),
  result: ToolOutcome.optional(),
  interrupted: z.boolean().optional(),
});

/** One schema for each type of document, with all fields that its metadata can grow to while it streams. */
const DOCUMENTS = DocumentType.options.map((type) =>
  Document.extend({
    type: z.literal(type),
    metadata: BESIDE.extend(DocumentMetadata[type].partial().shape),
  }),
);

/** Replaces `Document` in the OpenAPI document. */
const TypedDocument = z.discriminatedUnion(
  'type',
  DOCUMENTS as [(typeof DOCUMENTS)[number], ...typeof DOCUMENTS],
);

/** The name of {@link TypedDocument} until it replaces `Document`. */
export const TYPED = 'TypedDocument';

export const NAMED: Readonly<Record<string, z.ZodType>> = {
  BridgeId,
  CallId,
  ConversationId,
  DeviceId,
  DocumentId,
  ResponseId,
  Mode,
  Effect,
  Framing,
  ErrorCode,
  WireError,
  Health,
  LeftQuery,
  LeftReport,
  StreamTest,
  OpenApi,
  ChatRequest,
  PlanRequest,
  MessagePatch,
  ChatMessage,
  RequestContext,
  ToolSelection,
  ChatResponse,
  Document,
  DocumentType,
  ResponseStatus,
  ResponseMetadata,
  Usage,
  Cancelled,
  MessageImages,
  UnavailableTool,
  PlainDocument,
  PlainResponse,
  AnyResponse,
  Budget,
  BudgetState,
  Cost,
  Metadata,
  ToolOutcome,
  AttentionItem,
  Diff,
  Todo,
  TodoStatus,
  Question,
  Answer,
  ConversationList,
  ConversationInfo,
  ConversationPatch,
  ConversationView,
  UserMessage,
  ConversationExport,
  ForkRequest,
  Forked,
  TicketRequest,
  Ticket,
  RuleReports,
  RuleReport,
  RuleKind,
  LeftOutRule,
  Nonce,
  Proposal,
  ApprovalRequest,
  ApprovalTaken,
  ClarificationAnswer,
  ClarificationTaken,
  Plan,
  PlanState,
  PlanEdit,
  PlanExecution,
  PlanFileExecution,
  PlanSave,
  UndoRequest,
  CompactRequest,
  Agent,
  AgentInfo,
  AgentList,
  AgentRequest,
  AgentFollowUp,
  AgentStatus,
  WebhookDelivery,
  WebhookDeliveries,
  DeliveryState,
  UsageEntry,
  UsageList,
  AppKey,
  AppToken,
  KeyList,
  KeyRequest,
  KeyTerms,
  NewKey,
  Right,
  TokenRequest,
  AccountState,
  AccountStanding,
  AccountPatch,
  AccountExportLine,
  InvitationList,
  PendingInvitation,
  ActRecord,
  ActRecordList,
  RecordAction,
  Assertion,
  NewPasskey,
  Passkey,
  PasskeyList,
  PasskeyLogin,
  PasskeyPlace,
  PasskeySignature,
  Signature,
  Invitation,
  Login,
  LoginDecision,
  LoginRequest,
  LoginView,
  NewSession,
  Session,
  SessionKey,
  SessionKind,
  SessionList,
  SessionRequest,
  SessionToken,
  SessionTokenRequest,
  BrowserSubscription,
  NtfyTopic,
  PushKinds,
  PushRequest,
  PushState,
  Me,
  MePatch,
  ModelList,
  ToolList,
  BridgeList,
  BridgeMove,
  BridgeInfo,
  ReportedConfinement,
  ApprovalList,
  OpenApproval,
  FoundFile,
  FoundFiles,
  MachinePolicy,
  PolicyRule,
  AccountGrant,
  BridgeDetails,
  EnrolmentRequest,
  McpServerInfo,
  PortRequest,
  ProcessInfo,
  ProcessList,
  [TYPED]: TypedDocument,
  StreamEvent,
  AccountEvent,
  ...eventsByName(),
  ...Object.fromEntries(DOCUMENTS.map((schema) => [nameOf(schema, 'Document'), schema])),
  ...CURSOR_SCHEMAS,
  CompletionRequest,
  ...openAiSchemas,
  ...responsesSchemas,
  ResponsesRequest,
  UiChatRequest,
  UiMessageChunk,
};

function eventsByName(): Record<string, z.ZodType> {
  const schemas = [...StreamEvent.options, ...AccountEvent.options];
  return Object.fromEntries(schemas.map((schema) => [nameOf(schema, 'Event'), schema]));
}

/** `ToolCallStartEvent` for the schema of type `tool_call_start`. */
function nameOf({ shape }: z.ZodObject<{ type: z.ZodLiteral<string> }>, kind: string): string {
  const words = shape.type.value.split('_');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') + kind;
}
