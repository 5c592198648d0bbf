/** What a client can do: the API's requests as methods. */
import type { AccountEvent } from '../shared/api/account-events.ts';
import type {
  Agent,
  AgentFollowUpInput,
  AgentList,
  AgentRequestInput,
  AgentsQuery,
  WebhookDeliveries,
} from '../shared/api/agents.ts';
import type { Cancelled, MessageImages } from '../shared/api/answers.ts';
import type {
  ConversationExport,
  ConversationInfo,
  ConversationList,
  ConversationPatch,
  ConversationQuery,
  ConversationsQuery,
  Forked,
  ForkRequestInput,
  Ticket,
  TicketRequest,
} from '../shared/api/conversations.ts';
import type {
  ApprovalList,
  BridgeDetails,
  BridgeList,
  Me,
  MePatch,
  ModelList,
  ToolList,
} from '../shared/api/listings.ts';
import type { NewPasskey, PasskeyList } from '../shared/api/passkeys.ts';
import type { PushRequest, PushState } from '../shared/api/push.ts';
import type { ActRecordList, RecordsQuery } from '../shared/api/records.ts';
import type {
  ApprovalRequest,
  ChatRequestInput,
  ClarificationAnswerInput,
  CompactRequestInput,
  MessagePatchInput,
  PlanExecutionInput,
  PlanFileExecutionInput,
  PlanSaveRequestInput,
  UndoRequestInput,
} from '../shared/api/requests.ts';
import type {
  Invitation,
  InvitationList,
  LoginDecision,
  LoginView,
  SessionKey,
  SessionList,
} from '../shared/api/sessions.ts';
import type { UsageList, UsageQuery } from '../shared/api/usage.ts';
import type { Choice } from '../shared/wire/approval-text.ts';
import type { ApprovalQuestion, DeviceKey } from '../shared/wire/approvals.ts';
import type { ChatResponse, ConversationView } from '../shared/wire/documents.ts';
import type { ReadEvent } from '../shared/wire/events.ts';
import type { FoundFiles } from '../shared/wire/files.ts';
import type { Plan, PlanEditInput } from '../shared/wire/plans.ts';
import type { MachinePolicy } from '../shared/wire/policy.ts';
import type { ProcessInfo, ProcessList } from '../shared/wire/processes.ts';
import type { RuleReports } from '../shared/wire/rules.ts';
import type { Device } from './device.ts';
import type { EnrolmentSecret } from './enrolment.ts';
import type { FollowOptions, Positioned } from './follow.ts';
import type { SocketLike } from './socket.ts';

/** The Drawbridge that a client talks to. */
export interface ClientOptions {
  /** The URL of Drawbridge without `/api/v1`. It may end in a slash and may have a path. */
  readonly url: string;
  readonly token: string | TokenSource;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /**
   * Opens a WebSocket, for the streams that follow something: `(url) => new WebSocket(url)`. A page needs it where its
   * server has no HTTP/2. Without it, and where nothing on the way takes one, streams are server-sent events.
   */
  readonly openSocket?: (url: string) => SocketLike;
}

/**
 * Gives the bearer token of each request, so keep it until it is refused. After a 401 it gets the token that the server
 * has refused; the request is repeated once if another one comes back.
 */
export type TokenSource = (
  refused: string | undefined,
  signal: AbortSignal | undefined,
) => string | Promise<string>;

/** A chat request as a caller writes it. The client itself sets the fields of the transport. */
export type ChatInput = Omit<ChatRequestInput, 'stream' | 'stream_options' | 'documents'>;

/** A request to save a plan, in the same way. */
export type PlanSaveInput = Omit<PlanSaveRequestInput, 'stream' | 'stream_options' | 'documents'>;

/** A request to take back changes, in the same way. */
export type UndoInput = Omit<UndoRequestInput, 'stream' | 'stream_options' | 'documents'>;

/** A request to summarise a conversation, in the same way. */
export type CompactInput = Omit<CompactRequestInput, 'stream' | 'stream_options' | 'documents'>;

/** A request to execute a plan of a file, in the same way. */
export type PlanFileInput = Omit<PlanFileExecutionInput, 'stream' | 'stream_options' | 'documents'>;

/** The settings of a run that executes a plan, as a caller writes them. */
export type PlanInput = Omit<PlanExecutionInput, 'stream' | 'stream_options' | 'documents'>;

/** The request for an agent, as a caller writes it. */
export type AgentInput = AgentRequestInput;

export interface KeyedOptions extends Pick<FollowOptions, 'signal'> {
  /** A second request with the same key gets the response of the first one; see docs/protocol.md. */
  readonly idempotencyKey?: string;
}

export interface SendOptions extends FollowOptions, KeyedOptions {}

/** Whether a fork also restores the files. Without a `digest` it restores them without a preview. */
export interface ForkOptions extends KeyedOptions, Omit<ForkRequestInput, 'responseId'> {}

/** Where a stream begins: after `cursor`, the position of the last event that the reader has seen. */
export interface FollowFrom extends FollowOptions {
  readonly cursor?: number | undefined;
}

/** An event stream that outlives its connections. {@link follow} documents how it ends and what it throws. */
export type EventStream = AsyncGenerator<Positioned, void, undefined>;

/** What becomes of the text of an answer: more of it, or only its first `length` UTF-16 units still hold. */
export type PrintedText =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'rewind'; readonly length: number };

export type TextStream = AsyncGenerator<PrintedText, void, undefined>;

/** The changes of an account; see {@link Client.followAccount}. */
export type AccountStream = AsyncGenerator<Positioned<AccountEvent>, void, undefined>;

/** The conversation after an event. `event` is null at first: the conversation as it was read. */
export interface Watched {
  readonly view: ConversationView;
  readonly event: ReadEvent | null;
}

/** What a message was sent to and what it asks for. */
export interface Sent {
  readonly conversationId: string;
  readonly responseId: string;
}

/**
 * All methods reject with a ClientError, with the reason of the signal they were given, or with what the source of the
 * token throws.
 */
export interface Client {
  /** Sends a message and waits for the whole answer. */
  chat(request: ChatInput, options?: SendOptions): Promise<ChatResponse>;
  /**
   * Sends a message and yields the events of its response up to `done`. If the sending fails, the stream throws: it
   * never sends twice, because the run may be in progress. Leaving the loop does not end the run.
   */
  streamChat(request: ChatInput, options?: SendOptions): EventStream;
  /**
   * Sends a message and yields the agent's text as it comes, with code in fences. A server that crashed in the middle of
   * a turn asks the model again. Where the model then says something else, a `rewind` takes back what no longer holds.
   * Throws the error of an answer that failed; otherwise like {@link streamChat}.
   */
  streamText(request: ChatInput, options?: SendOptions): TextStream;
  /**
   * Sends a message and resolves as soon as the server has it: for a reader that watches the conversation anyway, and
   * for a message that steers (`delivery: 'steer'`).
   */
  sendMessage(request: ChatInput, options?: KeyedOptions): Promise<Sent>;
  /** The events of a response up to `done`, from the start or after a cursor. */
  followResponse(responseId: string, from?: FollowFrom): EventStream;
  /**
   * The events of a conversation; it ends only with the signal. If too much has happened since the cursor, one
   * `snapshot` comes instead, with the content of {@link getConversation}.
   */
  followConversation(conversationId: string, from?: FollowFrom): EventStream;
  /**
   * What changes in the account: its conversations, what waits in them for a person, its bridges. Ends only with the
   * signal. At a `reset`, and first without a cursor, read what you list before you take the next event: each later event
   * has the newest state of one entry, so nothing is missed.
   */
  followAccount(from?: FollowFrom): AccountStream;
  /**
   * The newest part of a conversation, once as it is and then after each event. It is one object, changed in place. Ends
   * only with the signal. `limit` bounds the first part, as for {@link getConversation}.
   */
  watchConversation(
    conversationId: string,
    options?: FollowOptions & { readonly limit?: number },
  ): AsyncGenerator<Watched, void, undefined>;
  getResponse(responseId: string, signal?: AbortSignal): Promise<ChatResponse>;
  /** The images of the message that the response answers. */
  getImages(responseId: string, signal?: AbortSignal): Promise<MessageImages>;
  getMe(signal?: AbortSignal): Promise<Me>;
  updateMe(patch: MePatch, signal?: AbortSignal): Promise<Me>;
  /** A way into this account for one more device. */
  createInvitation(signal?: AbortSignal): Promise<Invitation>;
  /** The account's invitations that no device has used, the oldest first. */
  listInvitations(signal?: AbortSignal): Promise<InvitationList>;
  revokeInvitation(invitationId: string, signal?: AbortSignal): Promise<void>;

  /** The account's passkeys, the oldest first. */
  listPasskeys(signal?: AbortSignal): Promise<PasskeyList>;

  /** From then on it can let any browser in: {@link approveByPasskey}. */
  addPasskey(passkey: NewPasskey, signal?: AbortSignal): Promise<void>;
  removePasskey(credentialId: string, signal?: AbortSignal): Promise<void>;
  /** The device that shows this code and asks to be let in. */
  getLogin(code: string, signal?: AbortSignal): Promise<LoginView>;
  /** Lets it in or refuses it. Pass the key whose fingerprint the person has compared. */
  decideLogin(code: string, decision: LoginDecision, signal?: AbortSignal): Promise<void>;
  /** The newest comes first. */
  listSessions(signal?: AbortSignal): Promise<SessionList>;
  endSession(sessionId: string, signal?: AbortSignal): Promise<void>;
  /** Who did what in the account. The newest comes first. */
  listRecords(query?: Partial<RecordsQuery>, signal?: AbortSignal): Promise<ActRecordList>;
  /** The key that this browser subscribes to notifications with, and the session's subscription. */
  getPush(signal?: AbortSignal): Promise<PushState>;
  /**
   * Replaces the session's subscription; a topic without a token keeps the one that it had. Rejects with FORBIDDEN for a
   * token that has no session.
   */
  setPush(request: PushRequest, signal?: AbortSignal): Promise<void>;
  deletePush(signal?: AbortSignal): Promise<void>;
  listModels(signal?: AbortSignal): Promise<ModelList>;
  listTools(signal?: AbortSignal): Promise<ToolList>;
  /** What was spent, by day and model. The oldest day comes first. */
  listUsage(query?: Partial<UsageQuery>, signal?: AbortSignal): Promise<UsageList>;
  /** The most recently connected bridge comes first. */
  listBridges(signal?: AbortSignal): Promise<BridgeList>;
  /** With the MCP servers of the bridge. */
  getBridge(bridgeId: string, signal?: AbortSignal): Promise<BridgeDetails>;
  /** What the agent's commands left running there, and ended commands whose output it can still read. */
  listProcesses(bridgeId: string, signal?: AbortSignal): Promise<ProcessList>;
  /** Stops a process with all that it started. */
  stopProcess(bridgeId: string, processId: string, signal?: AbortSignal): Promise<ProcessInfo>;
  /**
   * Opens a port of the process to the programs of the bridge's machine. `ports` of the answer has its address. Pass a
   * port that the person chose.
   */
  openPort(
    bridgeId: string,
    processId: string,
    port: number,
    device: Device,
    signal?: AbortSignal,
  ): Promise<ProcessInfo>;
  closePort(
    bridgeId: string,
    processId: string,
    port: number,
    signal?: AbortSignal,
  ): Promise<ProcessInfo>;
  /**
   * What of the bridge's workspace a message may mention, by a part of its path. The best match comes first. For an
   * empty query, what is open in an editor or was changed last. Only for the bridge's owner.
   */
  findFiles(bridgeId: string, query: string, signal?: AbortSignal): Promise<FoundFiles>;
  /** Lets the bridge move to the machine with this key: once, within ten minutes. Only for the bridge's owner. */
  allowMove(bridgeId: string, key: SessionKey, signal?: AbortSignal): Promise<void>;
  /** The owner's rules at the bridge's machine, and whom it lets in. Only for the bridge's owner. */
  getPolicy(bridgeId: string, signal?: AbortSignal): Promise<MachinePolicy>;
  /**
   * Enrols a device at the machine of the bridge: its approvals count from then on. Safe to repeat with the same key.
   * @throws {ClientError} `ENROLMENT_ENDED` if the secret was used or has expired: the machine makes another one.
   */
  enrolDevice(enrolment: EnrolmentSecret, device: DeviceKey, signal?: AbortSignal): Promise<void>;
  /** The most recently answered conversation comes first. */
  listConversations(
    query?: Partial<ConversationsQuery>,
    signal?: AbortSignal,
  ): Promise<ConversationList>;
  /**
   * The newest part of a conversation, or the part before a response. `followConversation` continues from the
   * `position` of the newest part: fold its events into that part, not into an earlier one.
   */
  getConversation(
    conversationId: string,
    query?: Partial<ConversationQuery>,
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
  /**
   * A new conversation with everything up to the end of the response. With `files: "restore"` it begins by taking back
   * what later responses changed in files: follow the `responseId` of the answer. The fork of an agent restores files in
   * the agent's worktree, but is no agent itself: its later messages work in the workspace.
   */
  forkConversation(
    conversationId: string,
    responseId: string,
    options?: ForkOptions,
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
    edit: PlanEditInput,
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
  /** Takes back what the agent changed in files, or with `preview` only shows what that would do. */
  undo(conversationId: string, request?: UndoInput, options?: SendOptions): EventStream;
  /** Has the conversation summarised: later requests to the model have the summary in place of what was said so far. */
  compact(conversationId: string, request?: CompactInput, options?: SendOptions): EventStream;
  /** Has the parts that model servers refused (errors `LEFT_OUT`) sent to them again with the next message. */
  sendWhole(conversationId: string, signal?: AbortSignal): Promise<void>;
  /** Has the plan in a file of the workspace executed, in a new conversation or in `conversationId`. */
  executePlanFile(request: PlanFileInput, options?: SendOptions): EventStream;
  /** Starts an agent: a conversation with the same id that works without any client. Resolves at once. */
  createAgent(request: AgentInput, options?: KeyedOptions): Promise<Agent>;
  /** The agent that answered last comes first. */
  listAgents(query?: Partial<AgentsQuery>, signal?: AbortSignal): Promise<AgentList>;
  getAgent(agentId: string, signal?: AbortSignal): Promise<Agent>;
  /** Sends the agent a message. Resolves at once. */
  followUpAgent(
    agentId: string,
    request: AgentFollowUpInput,
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
    patch: MessagePatchInput,
    signal?: AbortSignal,
  ): Promise<Cancelled>;
  /** Cancels a run. The result has its status at this moment; the run's `done` says how it ended. */
  cancel(responseId: string, signal?: AbortSignal): Promise<Cancelled>;
  /** The calls that wait for approval, and the questions that wait for answers, in all conversations. */
  listApprovals(signal?: AbortSignal): Promise<ApprovalList>;
  /**
   * Allows a call, signed by an enrolled device. Pass the question that the person was shown. `content` replaces the
   * proposed file, or holds the values that a form asks for. `scope` makes the yes last, where the question has
   * `lasting`, for the patterns that the person was shown or wrote (`pattern`, one on each line).
   */
  allowCall(
    question: ApprovalQuestion,
    device: Device,
    options?: Choice & { readonly signal?: AbortSignal | undefined },
  ): Promise<void>;
  /** Rejects a call. The model gets the message. */
  rejectCall(
    question: Pick<ApprovalQuestion, 'conversationId' | 'callId' | 'nonce'>,
    options?: { readonly message?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<void>;
  /** Answers an approval; a yes counts only with a signature ({@link allowCall} makes it). */
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
    answer: ClarificationAnswerInput,
    signal?: AbortSignal,
  ): Promise<void>;
}

/** A method that only the client of a person has: invitations, logins, passkeys, sessions and records of an account. */
export type PersonMethod =
  | 'createInvitation'
  | 'listInvitations'
  | 'revokeInvitation'
  | 'listPasskeys'
  | 'addPasskey'
  | 'removePasskey'
  | 'getLogin'
  | 'decideLogin'
  | 'listSessions'
  | 'allowMove'
  | 'endSession'
  | 'listRecords';

/** The client of Drawbridge's own page, which shows documents and prints no text. */
export type PageClient = Omit<Client, 'streamText'>;

/** The client of an app's page: it shows documents, and has no method of a person or with a device's key. */
export type AppClient = Omit<
  PageClient,
  'allowCall' | 'enrolDevice' | 'openPort' | 'sendWhole' | PersonMethod
>;
