/** The package's face: all that a program needs of the client. Code outside `client/` imports from here only. */

export type { AccountEvent } from '../shared/api/account-events.ts';
export type {
  Agent,
  AgentInfo,
  AgentList,
  WebhookDelivery,
} from '../shared/api/agents.ts';
export type {
  AgentStatus,
  ConversationExport,
  ConversationInfo,
  ConversationList,
} from '../shared/api/conversations.ts';
export type { BridgeInfo, ModelInfo } from '../shared/api/listings.ts';
export type { NewPasskey, Passkey, PasskeyList, PasskeyLogin } from '../shared/api/passkeys.ts';
export type { NtfyTopic, PushKind, PushKinds, PushRequest, PushState } from '../shared/api/push.ts';
export type { UsageEntry } from '../shared/api/usage.ts';
export type { ErrorCode } from '../shared/errors.ts';
export { encodeBase64Url } from '../shared/text/base64url.ts';
export { loginText, takesContent } from '../shared/wire/approval-text.ts';
export type {
  ApprovalQuestion,
  DeviceKey,
  OpenApproval,
  Proposal,
  Signature,
} from '../shared/wire/approvals.ts';
export type {
  Answer,
  ChatResponse,
  ClarificationMetadata,
  ConversationView,
  Document,
  DocumentType,
  FileEditMetadata,
  PlanMetadata,
  Question,
  ResponseStatus,
  TerminalCommandMetadata,
  TodoUpdateMetadata,
  ToolOutcome,
  Usage,
  UserMessage,
} from '../shared/wire/documents.ts';
export type { ReadEvent, StreamEvent, TapeEvent, UnknownEvent } from '../shared/wire/events.ts';
export type { FoundFile } from '../shared/wire/files.ts';
export {
  asksOf,
  foldConversation,
  foldEvent,
  isPlan,
  isWaiting,
  newResponse,
} from '../shared/wire/fold.ts';
export type { PasskeySignature } from '../shared/wire/passkey.ts';
export type { Plan } from '../shared/wire/plans.ts';
export type { SubagentAsk, SubagentState } from '../shared/wire/subagents.ts';
export type {
  AccountStream,
  AgentInput,
  AppClient,
  ChatInput,
  Client,
  ClientOptions,
  CompactInput,
  EventStream,
  FollowFrom,
  ForkOptions,
  KeyedOptions,
  PageClient,
  PlanFileInput,
  PlanInput,
  PlanSaveInput,
  PrintedText,
  SendOptions,
  Sent,
  TextStream,
  TokenSource,
  UndoInput,
  Watched,
} from './api.ts';
export { createAppClient, createClient, createPageClient } from './client.ts';
export type { Clock } from './clock.ts';
export {
  createDevice,
  type Device,
  isNewText,
  type KeyedDevice,
  type StoredDevice,
  signApproval,
} from './device.ts';
export { fingerprintOf, formatDeviceKey, readDeviceKey } from './device-key.ts';
export { type EnrolmentSecret, formatEnrolment, readEnrolment } from './enrolment.ts';
export { ClientError, type ClientOwnCode, causeOf, isPassing } from './error.ts';
export type { FollowOptions, Positioned } from './follow.ts';
export {
  approveByPasskey,
  beginLogin,
  enter,
  type KeptSession,
  newSessionKey,
  type SessionSigner,
  sessionTokens,
} from './session.ts';
export type { SocketLike } from './socket.ts';
export { dropEarlier, prependPart } from './watch.ts';
