/**
 * The RPC interfaces of the Durable Objects, and the types of their arguments and results. Callers and objects both
 * import this file and never each other. Types only.
 */
import type { AccountStanding, AccountState } from '../shared/api/accounts.ts';
import type { Agent, AgentList, AgentRequest, WebhookDelivery } from '../shared/api/agents.ts';
import type { Cancelled } from '../shared/api/answers.ts';
import type {
  AgentStatus,
  ConversationInfo,
  ConversationList,
  ConversationPatch,
} from '../shared/api/conversations.ts';
import type { KeyTerms } from '../shared/api/keys.ts';
import type { BridgeDetails, BridgeInfo } from '../shared/api/listings.ts';
import type { PushRequest } from '../shared/api/push.ts';
import type {
  ApprovalRequest,
  ClarificationAnswer,
  Delivery,
  MessageContent,
} from '../shared/api/requests.ts';
import type { LoginDecision, SessionKey, SessionKind } from '../shared/api/sessions.ts';
import type { UsageEntry, UsageList } from '../shared/api/usage.ts';
import type { ErrorCode } from '../shared/errors.ts';
import type { ResponseStatus, Usage } from '../shared/wire/documents.ts';
import type { EnrolmentOutcome, EnrolmentRequest } from '../shared/wire/enrolment.ts';
import type { TapeEvent } from '../shared/wire/events.ts';
import type { FileQuery, FoundFile } from '../shared/wire/files.ts';
import type { Findings, MessageLook } from '../shared/wire/findings.ts';
import type { OfferSet } from '../shared/wire/offer.ts';
import type { Plan, PlanEdit, PlanName } from '../shared/wire/plans.ts';
import type { MachinePolicy } from '../shared/wire/policy.ts';
import type { ProcessAsk, ProcessReport } from '../shared/wire/processes.ts';
import type { SubagentAsk, SubagentState } from '../shared/wire/subagents.ts';
import type { ApprovalAnswer, GuestCall, ToolCall, ToolResult } from '../shared/wire/tunnel.ts';
import type { Machine, Parent, RunRequest } from './conversation/store/rows.ts';
import type { Outcome } from './outcome.ts';
import type { Act, RecordsPage, StoredRecord } from './storage/records.ts';

/** Who calls. The Worker sets the account after it has checked the token. */
export interface Person {
  readonly account: string;
  /** The trace id of the request; undefined for what the Worker does by itself. */
  readonly trace?: string | undefined;
  /** Until when its token is valid, which ends its streams; undefined for what the Worker does by itself. */
  readonly expiresMs?: number;
  /** The session of its token, whose end cuts its streams; undefined for tokens without one. */
  readonly session?: string | undefined;
}

/** A person and a conversation, which may belong to another account. */
export interface Caller extends Person {
  readonly conversationId: string;
}

/**
 * One conversation. Expected failures come back as {@link Outcome}. Every method with a caller checks the owner.
 * Followers and whole documents go over its `fetch` (conversation/reading/requests.ts).
 */
export interface ConversationPort extends Rpc.DurableObjectBranded {
  /** Appends a message and starts its response. Returns as soon as both are stored. */
  submit(caller: Caller, submission: Submission): Promise<Outcome<{ responseId: string }>>;

  /**
   * From the tunnel: a guest at the bridge wants to change a file. Makes the guest's conversation with its first call.
   * The same call again changes nothing. Fails with NOT_FOUND in a conversation that is not this bridge's guest's.
   */
  takeGuestCall(
    caller: Caller,
    bridgeId: string,
    call: GuestCall,
  ): Promise<Outcome<{ responseId: string }>>;

  /** The conversation as an agent, with the webhook's secret for the one who makes it. Fails with NOT_FOUND if it is none. */
  agent(caller: Caller, withSecret: boolean): Promise<Outcome<Agent>>;

  /** The events for an agent's webhook, the newest first. Fails like {@link agent}. */
  deliveries(caller: Caller): Promise<Outcome<WebhookDelivery[]>>;

  /** What each response of an agent has spent, the newest first. Fails like {@link agent}. */
  usages(caller: Caller): Promise<Outcome<ResponseUsage[]>>;

  /** Ends all responses of an agent, also those that wait. Fails with NOT_FOUND if the conversation is no agent. */
  stopAgent(caller: Caller): Promise<Outcome<void>>;

  /** Ends a response. A finished response does not change. */
  cancel(caller: Caller, ordinal: number): Promise<Outcome<Cancelled>>;

  /** Changes a message that still waits for its turn. */
  edit(caller: Caller, ordinal: number, content: MessageContent): Promise<Outcome<Cancelled>>;

  /** Fails with NOT_FOUND if the response does not exist, or for null the conversation. */
  find(caller: Caller, ordinal: number | null): Promise<Outcome<void>>;

  /** Renames or archives it. A patch without effect writes no event; the account is still updated. */
  update(caller: Caller, patch: ConversationPatch): Promise<Outcome<ConversationInfo>>;

  /**
   * Ends the current run and deletes everything, with the conversations of its subagents. After it has returned, nothing
   * more is sent to the account. With `parent` deletes only a subagent's conversation of that parent.
   */
  delete(caller: Caller, parent?: string): Promise<Outcome<void>>;

  /** Makes this object a copy of `source`, unless it is a conversation already; see `forkConversation`. */
  fork(caller: Caller, source: ForkSource): Promise<Outcome<void>>;

  /** The conversation in whose worktree this one works; null where it works in the workspace. */
  worktreeOf(caller: Caller): Promise<Outcome<string | null>>;

  /** A page of the rows that a copy up to this point takes over. */
  forkPage(caller: Caller, point: ForkPoint, start: PageStart): Promise<Outcome<ForkPage>>;

  /** Returns the id of the bridge that the answer goes to. Its tunnel learns whether the answer counts. */
  answerApproval(caller: Caller, callId: string, answer: ApprovalRequest): Promise<Outcome<string>>;

  answerClarification(
    caller: Caller,
    documentId: string,
    answer: ClarificationAnswer,
  ): Promise<Outcome<void>>;

  /** Changes the conversation's plan. Fails with NOT_FOUND, SUPERSEDED and PLAN_CHANGED. */
  changePlan(caller: Caller, documentId: string, edit: PlanEdit): Promise<Outcome<Plan>>;

  /**
   * From a subagent: its state, at the call that started it. Its end is stored when this returns. The same report again
   * changes nothing. `over`: no call waits for it any more. `gone`: the conversation does not exist any more.
   */
  taskReport(callId: string, report: TaskReport): 'wanted' | 'over' | 'gone';

  /** Asks a subagent that was silent for long to report. Fails with NOT_FOUND where no subagent works. */
  remindTask(caller: Caller): Promise<Outcome<void>>;

  /** From the tunnel: the result of a call. The first result counts. It is stored when this returns. */
  settle(callId: string, result: ToolResult): void;

  /** From the tunnel: live output of a call. */
  output(callId: string, delta: string): void;

  /** From the tunnel: the bridge asks a person. */
  approvalRequested(callId: string, asked: ApprovalAsked): void;

  /** From the tunnel: a question is settled, here or at the machine. */
  approvalResolved(callId: string, resolution: ApprovalResolution): void;

  /** From the account: a session has ended. Closes its followers for good. */
  endSession(session: string): void;

  /** From the account: it is suspended. Ends all responses, and closes all followers for good. */
  halt(): void;

  /** From the tunnel: it has no arguments any more of open calls of this private conversation. Dispatches them again. */
  dispatchAgain(): void;
}

/** A message on its way into a conversation. */
export interface Posted {
  readonly request: RunRequest;
  readonly device: string | undefined;
  readonly delivery: Delivery;
  /** Fields of the request that only the message's own run can follow. A message that steers has none. */
  readonly ownFields: readonly string[];
}

/** Names a plan to execute. `version` is the one that the person saw; undefined for any. */
export interface PlanVersion extends PlanName {
  readonly version: number | undefined;
}

/** How a plan is to be saved. Without a name, the plan's title makes one. */
export interface SaveAs {
  readonly name: string | undefined;
}

/** A message for a conversation that may not exist yet. */
export interface Submission extends Posted {
  /** The bridge that the message names; a conversation that exists accepts only its own. */
  readonly bridgeId?: string | undefined;
  /** The bridge of the folder that the sender stands in. A conversation of another bridge refuses the message. */
  readonly standsAt?: string | undefined;
  /** Set for a message that executes a plan: the conversation writes its text and adds the plan. */
  readonly plan?: PlanVersion | undefined;
  /** Set for a message that saves `plan` instead. */
  readonly saveAs?: SaveAs | undefined;
  /** The settings of a new conversation; `bridgeId` is null without a bridge. Null if the conversation must exist. */
  readonly create: {
    readonly bridgeId: string | null;
    readonly title: string;
    readonly ephemeral: boolean;
    /** Set for a private conversation. */
    readonly deleteAfterHours?: number | null | undefined;
    /** Set for an agent, which its account lists with its status. */
    readonly agent?: AgentWishes | undefined;
    /** Whether the title was given and stays: no model makes another one. */
    readonly isTitled?: boolean;
    /** Set for a subagent's conversation. */
    readonly parent?: Parent | undefined;
  } | null;
}

/** A report of a subagent. */
export interface TaskReport {
  /** Grows with each event in its conversation, so that a report that comes late is known as such. */
  readonly position: number;
  readonly state: SubagentState;
  /** All questions that wait for a person, in it and in the subagents below it. */
  readonly asks: readonly SubagentAsk[];
  /** Set at the end of its run. `rows` are those that its response has written. */
  readonly end?: { readonly result: ToolResult; readonly rows: number };
}

/** What a client wants of a new agent, besides its first message. */
export type AgentWishes = Pick<
  AgentRequest,
  'title' | 'webhook' | 'workspace' | 'branch' | 'base' | 'commit'
>;

/** A question as the bridge asks it. */
export type ApprovalAsked = Pick<
  Extract<TapeEvent, { type: 'approval_request' }>,
  'nonce' | 'proposal' | 'reason' | 'newText' | 'lasting'
>;

/** The end of a question, as the bridge reports it. */
export type ApprovalResolution = Pick<ApprovalAsked, 'nonce'> &
  Pick<Extract<TapeEvent, { type: 'approval_resolved' }>, 'decision' | 'by' | 'scope' | 'message'>;

/** The response up to which a conversation is copied. `through` includes that response. */
export interface ForkPoint {
  readonly ordinal: number;
  readonly through: boolean;
  /** The files are to be restored: no response of the conversation may run, and its bridge must be connected. */
  readonly restores?: boolean | undefined;
}

export interface ForkSource extends ForkPoint {
  /** The conversation to copy. It must be the caller's. */
  readonly from: string;
  /** The new conversation's title, if it differs from the old one's. */
  readonly title?: string | undefined;
}

/** A page of a conversation's rows, with the properties that the copy takes over. */
export interface ForkPage extends TablePage {
  readonly bridge: string | null;
  readonly title: string;
  readonly deleteAfterHours: number | null;
  /** The last response that is copied; 0 if there is none. */
  readonly ordinal: number;
}

/** Rows as the tables hold them. */
export interface TablePage {
  readonly rows: readonly { readonly table: TableName; readonly row: StoredRow }[];
  /** Null after the last one. */
  readonly next: PageStart | null;
}

/** The start of a page: an index into the copied tables, and the number of its rows on earlier pages. */
export interface PageStart {
  readonly table: number;
  readonly offset: number;
}

export type TableName = 'tape' | 'runs' | 'turns' | 'results' | 'steers' | 'windows' | 'offers';

export type StoredRow = Record<string, SqlStorageValue>;

/** The edge's end of one bridge's tunnel. The bridge itself connects over `fetch`, with a WebSocket. */
export interface TunnelPort extends Rpc.DurableObjectBranded {
  /**
   * The bridge as of its last hello. Null if it never said hello, and for an account that is neither its owner nor let in
   * by its machine. Accounts that are let in see nothing of the owner: no editor, rules, offers or other calls.
   */
  describe(account: string): MachineSeen | null;

  /** The set of tools with this digest. Null if it is no longer stored, and for others than the owner. */
  offers(account: string, digest: string): OfferSet | null;

  /**
   * The bridge with a fresh look at its workspace, for a run that begins. Returns the last known state if the bridge
   * cannot look, or does not answer within CONTEXT_LIMITS.waitMs; longer where the message mentions something. Null like
   * {@link describe}.
   */
  look(account: string, message?: MessageLook): Promise<BridgeLook | null>;

  /** The bridge's listing. Null like {@link describe}. */
  status(account: string): BridgeState | null;

  /** The bridge with its MCP servers. Null like {@link describe}. */
  details(account: string): (Omit<BridgeDetails, 'lastConnected'> & BridgeState) | null;

  /** The bridge's processes, after what is asked. Null if it does not answer or cannot, and for others than the owner. */
  processes(account: string, ask: ProcessAsk): Promise<ProcessReport | null>;

  /** Has the bridge enrol a device. Null as for {@link processes}. */
  enrol(account: string, request: EnrolmentRequest): Promise<EnrolmentOutcome | null>;

  /** What of the bridge's workspace fits the text. Null as for {@link processes}. */
  findFiles(account: string, query: FileQuery): Promise<FoundFile[] | null>;

  /** What the owner's files of the machine allow. Null as for {@link processes}. */
  policy(account: string): Promise<MachinePolicy | null>;

  /**
   * Takes calls over: they are stored when this returns. Those of an account that may not use the bridge end with
   * NOT_GRANTED. The same call again changes nothing. Returns the number of rows written, including the later rows that
   * deliver and delete the calls. Calls that are `isPatient` wait for a bridge that is away until it is back, however
   * long that takes. The arguments of a private call are not stored: a tunnel that has lost them asks its conversation
   * ({@link ConversationPort.dispatchAgain}).
   */
  dispatch(account: string, calls: readonly ToolCall[], isPatient?: boolean): Promise<number>;

  /** Ends calls, now or when the bridge is back. Forgets a call that was never sent. */
  cancel(account: string, callIds: readonly string[]): void;

  /**
   * Keeps a person's answer until the bridge has acted on it. The first answer counts. Returns the number of rows
   * written, including the answer's deletion.
   */
  answer(account: string, answer: ApprovalAnswer): Promise<Outcome<number>>;

  /** From the account: this session may do no more, or for null no connection of the account. Closes its sockets. */
  endSession(account: string, session: string | null, why: Refused): void;

  /**
   * From the account, which is being deleted. Closes its sockets, and deletes everything. False, and nothing is deleted,
   * if the bridge is of another account.
   */
  erase(account: string): Promise<boolean>;

  /** Answers at once. A caller that waits for the bridge polls this. */
  answerState(account: string, key: AnswerKey): AnswerState;
}

/** A bridge as of its hello. `offers` is only the digest of the set of tools. */
export interface MachineSeen extends Omit<Machine, 'offers' | 'findings'> {
  readonly offers?: string;
}

/** A bridge as it is known now, what it found for the message, and the number of rows that the look wrote. */
export interface BridgeLook {
  readonly known: MachineSeen;
  readonly findings?: Findings;
  readonly rows: number;
}

/** Names the question that an answer belongs to. */
export type AnswerKey = Pick<ApprovalAnswer, 'callId' | 'nonce'>;

/** The state of a person's answer. `over`: the answer counted, or its question is closed. */
export type AnswerState =
  | { readonly state: 'waiting'; readonly connected: boolean }
  | { readonly state: 'refused'; readonly message: string }
  | { readonly state: 'over' };

/** A bridge's listing. The account of its owner knows the time of its connection. */
export type BridgeState = Omit<BridgeInfo, 'lastConnected'> & Partial<BridgeInfo>;

/** What the whole server has: the keys of its apps, and the ways in for people. One object has all of it. */
export interface DirectoryPort extends Rpc.DurableObjectBranded {
  /** All keys, in the order of their ids. */
  keys(): StoredKey[];

  /** Fails with KEY_EXISTS, and with INVALID_REQUEST where there are KEY_LIMITS.maxKeys. */
  makeKey(id: string, terms: KeyTerms): Outcome<StoredKey>;

  /** Fails with NOT_FOUND. */
  changeKey(id: string, terms: KeyTerms): Outcome<StoredKey>;

  /** Gives the key another secret, which ends the tokens of the old one. Fails with NOT_FOUND. */
  renewSecret(id: string): Outcome<StoredKey>;

  /** Changes nothing if there is no such key. */
  deleteKey(id: string): void;

  /** Adds tokens of models that a user of the key has used on a day of UTC. */
  spend(id: string, day: string, tokens: number): void;

  /** What all users of the key have used on a day of UTC. */
  spent(id: string, day: string): number;

  /** Fails with RATE_LIMITED if too many of the account wait. */
  invite(invitation: NewInvitation): Outcome<void>;

  /** The invitations of the account that no device has used, or for null of all accounts. The oldest comes first. */
  invitations(account: string | null): WaitingInvitation[];

  /** Revokes an unused invitation of the account, or for null of any. Changes nothing if there is none. */
  revokeInvitation(id: string, account: string | null): void;

  /** Returns the code of the login. Fails with RATE_LIMITED if too many wait. */
  beginLogin(login: NewLogin): Outcome<string>;

  /** A login that waits. Fails with NOT_FOUND, and with RATE_LIMITED for an account that guesses. */
  login(account: string, code: string): Outcome<WaitingLogin>;

  /**
   * A person's decision. Returns the login. Fails like {@link login}, and with KEY_CHANGED if another key waits than the
   * person saw.
   */
  decideLogin(decider: Decider, code: string, decision: LoginDecision): Outcome<WaitingLogin>;

  /**
   * Uses an invitation or a login up, for a key that its sender has. The same key gets the same answer again. Fails with
   * ENTRY_ENDED, LOGIN_PENDING and LOGIN_REFUSED.
   */
  enter(secret: string, key: SessionKey): Outcome<Admitted>;

  /** Fails with INVALID_REQUEST for the id of another passkey, and where the account has too many. */
  addPasskey(passkey: NewStoredPasskey): Outcome<void>;

  /** The account's passkeys, the oldest first. */
  passkeys(account: string): StoredPasskey[];

  /** The one with this id; null without one. */
  passkey(id: string): StoredPasskey | null;

  /** The one that was removed; null if the account has none with this id. */
  removePasskey(account: string, id: string): StoredPasskey | null;

  /**
   * Approves the login with this secret as the account of the passkey, whose signature the caller has checked. Fails with
   * PASSKEY_REFUSED if the account does not have it any more, and with ENTRY_ENDED if no such login waits.
   */
  approveByPasskey(secret: string, passkey: PasskeyOwner): Outcome<void>;

  /** Deletes the ways into a deleted account, and records its deletion. */
  forgetAccount(account: string): void;

  /** Records what an operator did elsewhere. */
  record(act: Act): void;

  /** What operators did, the newest first. Changes of keys are recorded in the step that makes them. */
  records(page: RecordsPage): StoredRecord[];

  /** Whether the account ever had a session. Strangers name accounts, and an object that wakes makes files. */
  hasEntered(account: string): boolean;

  /** The server's key for Web Push. The first call makes it. */
  pushKeys(): Promise<PushKeys>;
}

/** Which passkey, by its credential's id, and the account that it signs in to. */
export interface PasskeyOwner {
  readonly id: string;
  readonly account: string;
}

export interface NewStoredPasskey extends PasskeyOwner {
  readonly name: string;
  readonly key: SessionKey;
  /** Of the page that made it. */
  readonly origin: string;
}

/** With the times at which it was made and last used, in epoch milliseconds. */
export type StoredPasskey = NewStoredPasskey & {
  readonly madeMs: number;
  readonly usedMs?: number;
};

/** A pair of keys of P-256 in base64url: the uncompressed point, and its scalar. */
export interface PushKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** An invitation. `secret` is the hash of its secret (SHA-256, base64url). */
export interface NewInvitation {
  readonly secret: string;
  readonly account: string;
  /** The session that made it; undefined for a token without one. */
  readonly by: string | undefined;
  readonly expiresMs: number;
}

/** An invitation that no device has used. */
export type WaitingInvitation = NewInvitation & { readonly madeMs: number };

/** Who decides on a login. */
export interface Decider {
  readonly account: string;
  readonly session: string | undefined;
}

/** A login that begins. `secret` as for an invitation. */
export interface NewLogin {
  readonly secret: string;
  readonly name: string;
  readonly kind: SessionKind;
  readonly key: SessionKey;
  readonly address?: string | undefined;
  readonly expiresMs: number;
}

/** A login on which no person has decided. */
export type WaitingLogin = Omit<NewLogin, 'expiresMs'> & { readonly madeMs: number };

/** Whose session a key becomes. */
export interface Admitted {
  readonly account: string;
  readonly session: string;
  /** The session that invited it or let it in. Its key gets in only while that session lives. */
  readonly by: string | undefined;
}

/** What is known of a session when it is made. */
export type NewStoredSession = Pick<StoredSession, 'id' | 'name' | 'kind' | 'key'>;

/** A session in its account. Times are epoch milliseconds. */
export interface StoredSession {
  readonly id: string;
  readonly name: string;
  readonly kind: SessionKind;
  readonly key: SessionKey;
  readonly madeMs: number;
  readonly seenMs: number;
}

/** The key of an app. Its secret is derived from AUTH_SECRET and `salt` (worker/apps/secrets.ts), and is not stored. */
export interface StoredKey {
  readonly id: string;
  readonly salt: string;
  readonly createdMs: number;
  readonly terms: KeyTerms;
}

/** One account: its bridges and conversations. */
export interface AccountPort extends Rpc.DurableObjectBranded {
  /** Remembers a bridge, and that it connected now. Changes nothing where it is refused. */
  bridgeConnected(bridgeId: string, session?: string): Refused | null;

  /** A bridge has closed its connection, and has no other one. */
  bridgeClosed(bridgeId: string): void;

  /** Lists a bridge of another account, whose machine lets this one in. Changes nothing if it is listed. */
  bridgeShared(bridgeId: string): void;

  /** All bridges. The bridge that connected last comes first. */
  bridges(): KnownBridge[];

  /** Lists a new conversation. Changes nothing if it is listed already. */
  begin(conversation: Listed): void;

  /**
   * At the end of a response. Lists the conversation if it is not listed, and adds to its text: one row. Adds what it has
   * spent, unless that is counted: one row for each model.
   */
  answered(answered: AnsweredExchange): void;

  /** Updates the listing. Uses `updatedMs` only if the conversation was not listed. Adds `spent`, once for each call. */
  update(conversation: Listed, spent?: UsageEntry): ConversationInfo;

  /**
   * The run through which the conversation's usage is counted. Null for a conversation that was listed before usage was
   * counted.
   */
  counted(conversationId: string): number | null;

  /** Adds what a conversation has spent, apart from an answer. Changes nothing if it is counted. */
  count(conversationId: string, spent: SpentSince): void;

  usage(range: UsageRange): { items: UsageList['items']; hasMore: boolean };

  /** Tokens of models that the account has used on a day of UTC. */
  spent(day: string): number;

  /** Removes a deleted conversation from the list, and its mark. `session`: the one that deleted it. */
  forget(conversationId: string, session?: string): void;

  /** Marks a conversation, listed or not, while something in it waits for a person. Changes nothing if all is known. */
  acts(conversationId: string, activity: Activity): void;

  /**
   * The conversations in which something waits for a person, the one that has waited longest first. A conversation that
   * was answered a moment ago, or before an upgrade, may still be among them.
   */
  waiting(): string[];

  list(query: ListQuery): ConversationList;

  /** The agents among the conversations. */
  agents(query: AgentListQuery): AgentList;

  /** What the list has of a private conversation; null for any other one. */
  privateListing(conversationId: string): PrivateListing | null;

  /** The account's default for new conversations; undefined where it has none. Null: not private. */
  deleteAfterHours(): number | null | undefined;

  setDeleteAfterHours(hours: number | null): void;

  /** Uses a ticket up. False if it was used before. */
  redeem(ticketId: string, expiresMs: number): boolean;

  /**
   * Adds a session that `admittedBy` lets in. The same one again changes nothing. Fails with ENTRY_ENDED if that session
   * has ended, with RATE_LIMITED if there are too many, and if the account is suspended or deleted.
   */
  addSession(session: NewStoredSession, admittedBy: string | undefined): Outcome<void>;

  /** The sessions that have not ended, the newest first. */
  sessions(): StoredSession[];

  /** The session if this proof is of its key and was not used before. Fails with UNAUTHENTICATED and like {@link refusal}. */
  proveSession(id: string, proof: string): Promise<Outcome<StoredSession>>;

  /** Why the account takes nothing from this session, or from a token without one; else null. Notes that it is used. */
  refusal(session: string | undefined): Refused | null;

  /** The session's subscription to notifications; null without one. */
  push(session: string): StoredPush | null;

  /**
   * Replaces the subscription of a session that has not ended; null removes it. A topic without a token keeps the one
   * that it had.
   */
  savePush(session: string, push: StoredPush | null): void;

  /**
   * Ends a session: what it sends is refused when this returns, and its streams and bridges are cut soon after. `by`: the
   * session that ends it.
   */
  endSession(id: string, by?: string): void;

  /** Fails with NOT_FOUND if nothing of the account was ever stored. */
  standing(): Outcome<Standing>;

  /**
   * Suspends or deletes the account, or lifts that. What it sends is refused when this returns; its streams and bridges
   * are cut and its responses ended soon after, and what it has is deleted. Fails like {@link standing}, and with
   * ACCOUNT_DELETED where a deletion stands in the way.
   */
  changeState(wanted: WantedState): Promise<Outcome<Standing>>;

  /** Ids of its listed conversations, in the order of the ids: a page of those after this one. */
  conversationsAfter(id: string): string[];

  /** Records an act that changes nothing in this object. All others are recorded in the step that does them. */
  record(act: Act): void;

  /** Who did what, the newest first. */
  records(page: RecordsPage): StoredRecord[];
}

/** Why requests are refused although their token is valid. */
export type Refused = Extract<ErrorCode, 'SESSION_ENDED' | 'ACCOUNT_SUSPENDED' | 'ACCOUNT_DELETED'>;

/** The state that an operator wants an account to have. */
export type WantedState = Exclude<AccountState, 'deleting'>;

/** An account as its operator sees it. */
export type Standing = Pick<AccountStanding, 'state' | 'has' | 'deleted'> & {
  /** When it got into its state, epoch milliseconds; null if it has always been active. */
  readonly sinceMs: number | null;
};
/** A subscription to notifications. `origin`: where the person finds the page. */
export interface StoredPush extends PushRequest {
  readonly origin: string;
}

export interface KnownBridge {
  readonly id: string;
  /** Time of the last connection, epoch milliseconds. */
  readonly connectedAtMs: number;
  /** As of the tunnel's last report: a bridge can vanish without a close. */
  readonly connected: boolean;
}

/** What goes on in a conversation, and what in it and its subagents waits for a person. */
export interface Activity {
  /** False for a conversation that is not listed. */
  readonly isRunning: boolean;
  /** As in {@link Listed}. */
  readonly hasSubagents: boolean;
  readonly approvals: number;
  readonly questions: number;
  /** Names everything that waits: the same text means the same. Empty where nothing waits. */
  readonly asks: string;
}

/** A conversation in the list. Times are epoch milliseconds. */
export interface Listed {
  readonly id: string;
  readonly title: string;
  readonly archived: boolean;
  readonly createdMs: number;
  /** Time of the last answer. */
  readonly updatedMs: number;
  /** Set for an agent. */
  readonly agent?: AgentStatus | undefined;
  readonly isRunning: boolean;
  /** Since its object woke; the account keeps that it ever had some. */
  readonly hasSubagents: boolean;
  readonly bridgeId: string | null;
  /** Hours; set for a private conversation. */
  readonly deleteAfterHours?: number | null;
}

export type PrivateListing = Pick<Listed, 'createdMs' | 'bridgeId'> & {
  readonly deleteAfterHours: number;
};

/** A conversation at the end of a response. `text` is the searchable text of the exchange. */
export interface AnsweredExchange extends Listed {
  readonly text: string;
  /** Null where nothing is new. */
  readonly spent: SpentSince | null;
  /** The run that has just ended, for a notification. Undefined for a copy, and after a lost report. */
  readonly run?: EndedRun | undefined;
}

/** How a run ended. */
export interface EndedRun {
  readonly status: ResponseStatus;
  readonly durationMs: number;
}

/** What the runs of a conversation after `after`, up to `through`, have spent. */
export interface SpentSince {
  readonly after: number;
  readonly through: number;
  readonly entries: readonly UsageEntry[];
}

/** What a response has spent, with its subagents; null before its end, and where nothing was reported. */
export interface ResponseUsage {
  readonly responseId: string;
  readonly usage: Usage | null;
}

/** A page of an account's usage. `from` and `to` are days of UTC, both included. */
export interface UsageRange {
  readonly from: string;
  readonly to: string;
  readonly limit: number;
  /** The last entry of the previous page; null for the first page. */
  readonly after: { readonly day: string; readonly model: string } | null;
}

export interface ListQuery {
  readonly limit: number;
  /** The end of the previous page; null for the first page. */
  readonly after: ListPosition | null;
  /** Words that must all occur in the title or the text, in the form of `folded` (account/search.ts). */
  readonly words: readonly string[];
  readonly archived: boolean;
  /** Leaves out what is known to belong to another bridge, or to none. */
  readonly bridgeId?: string | undefined;
}

export interface AgentListQuery extends Pick<ListQuery, 'limit' | 'after'> {
  /** Undefined for all that are not archived; `any` for all. */
  readonly status: AgentStatus | 'any' | undefined;
}

/** The last entry of a page of the list. */
export interface ListPosition {
  readonly updatedMs: number;
  readonly id: string;
}
