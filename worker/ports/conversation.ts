/** What the object of a conversation answers, and what it takes and gives. Its callers and it import this, and never each other. */
import type { Agent, AgentRequest, WebhookDelivery } from '../../shared/api/agents.ts';
import type { Cancelled } from '../../shared/api/answers.ts';
import type { GivenResults } from '../../shared/api/app-results.ts';
import type { ConversationInfo, ConversationPatch } from '../../shared/api/conversations.ts';
import type {
  ApprovalRequest,
  ClarificationAnswer,
  Delivery,
  MessageContent,
} from '../../shared/api/requests.ts';
import type { TapeEvent } from '../../shared/wire/events.ts';
import type { Plan, PlanEdit } from '../../shared/wire/plans.ts';
import type { SubagentAsk, SubagentState } from '../../shared/wire/subagents.ts';
import type { GuestCall, ToolResult } from '../../shared/wire/tunnel.ts';
import type { NamedPlan, Parent, RunRequest, SaveAs } from '../conversation/store/rows.ts';
import type { WaitingPlace } from '../images/waiting.ts';
import type { Outcome } from '../outcome.ts';
import type { StoredRow } from '../storage/statements.ts';
import type { Belonging, ResponseUsage } from './account.ts';

/** Who calls. The Worker sets the account after it has checked the token. */
export interface Person {
  readonly account: string;
  /** The trace id of the request; undefined for what the Worker does by itself. */
  readonly trace?: string | undefined;
  /** Until when its token is valid, which ends its streams; undefined for what the Worker does by itself. */
  readonly expiresMs?: number;
  /** The session of its token, whose end cuts its streams; undefined for tokens without one. */
  readonly session?: string | undefined;
  /** Set where a ticket replaced its token. */
  readonly ticket?: UsedTicket;
}

/** One use of a ticket. Of two readers with one ticket, the one whose use is later stays. */
export interface UsedTicket {
  readonly id: string;
  readonly usedMs: number;
}

/** A person and a conversation, which may belong to another account. */
export interface Caller extends Person {
  readonly conversationId: string;
}

/** One conversation. Every method with a caller checks the owner. Documents and followers go over its `fetch`. */
export interface ConversationPort extends Rpc.DurableObjectBranded {
  /** Appends a message and starts its response. Returns as soon as both are stored. */
  submit(caller: Caller, submission: Submission): Promise<Outcome<{ responseId: string }>>;

  /** From the tunnel: a guest wants to change a file. Repeatable. NOT_FOUND for a conversation of another bridge. */
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

  /** Whose conversation this is; null where none is stored whole. */
  owner(): Belonging | null;

  /** From the server's start: goes on with a run that an earlier instance left. False where nothing is stored. */
  wake(): boolean;

  /** Ends a response, with `unlessFollowed` only if no one follows it. A finished response does not change. */
  cancel(caller: Caller, ordinal: number, unlessFollowed?: boolean): Promise<Outcome<Cancelled>>;

  /** Changes a message that still waits for its turn. `images`: as in {@link Submission}. */
  edit(
    caller: Caller,
    ordinal: number,
    content: MessageContent,
    images?: WaitingPlace,
  ): Promise<Outcome<Cancelled>>;

  /** The names of the tools that a run has, without those of its app; null before its start. Fails with NOT_FOUND. */
  offered(caller: Caller, ordinal: number): Promise<Outcome<string[] | null>>;

  /** Fails with NOT_FOUND if the response does not exist, or for null the conversation. */
  find(caller: Caller, ordinal: number | null): Promise<Outcome<void>>;

  /** Which responses there are. Fails with NOT_FOUND if the conversation does not exist. */
  ordinals(caller: Caller): Promise<Outcome<Ordinals>>;

  /** Renames or archives it. A patch without effect writes no event; the account is still updated. */
  update(caller: Caller, patch: ConversationPatch): Promise<Outcome<ConversationInfo>>;

  /** Ends the run and deletes everything, subagents too. With `parent`: only a subagent's conversation of it. */
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

  /**
   * From an app: what its tools returned. Returns the last sequence. `images`: as in {@link Submission}. Fails as
   * `CallDesk.settleClientCalls`.
   */
  giveResults(
    caller: Caller,
    ordinal: number,
    given: GivenResults,
    images?: WaitingPlace,
  ): Promise<Outcome<number>>;

  /** Holds a piece of an image until a conversation takes it. Only an object that is no conversation does. */
  holdImage(digest: string, piece: string): Promise<void>;

  /** A piece that it holds; null for another one. */
  imagePiece(digest: string): string | null;

  /** Gives up all pieces, unless it is a conversation. */
  dropImages(): Promise<void>;

  /** Changes the conversation's plan. Fails with NOT_FOUND, SUPERSEDED and PLAN_CHANGED. */
  changePlan(caller: Caller, documentId: string, edit: PlanEdit): Promise<Outcome<Plan>>;

  /** Forgets which parts model servers have refused: the next request has all of them again. */
  sendWhole(caller: Caller): Promise<Outcome<void>>;

  /** From a subagent: its state; stored when this returns. `over`: no call waits. `gone`: there is no conversation. */
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

/** The numbers of the newest response, and of the newest one that has not ended; null without one. */
export interface Ordinals {
  readonly newest: number;
  readonly open: number | null;
}

/** A message on its way into a conversation. */
export interface Posted {
  readonly request: RunRequest;
  readonly device: string | undefined;
  readonly delivery: Delivery;
  /** Fields of the request that only the message's own run can follow. A message that steers has none. */
  readonly ownFields: readonly string[];
}

/**
 * A message for a conversation that may not exist yet. During a deployment, objects and isolates of two versions talk to
 * each other: a field that changes its meaning here would make another request of a repeated one.
 */
export interface Submission extends Posted {
  /** Where its large images wait, for the caller's conversation to take them. */
  readonly images?: WaitingPlace | undefined;
  /** The bridge that the message names; a conversation that exists accepts only its own. */
  readonly bridgeId?: string | undefined;
  /** The bridge of the folder that the sender stands in. A conversation of another bridge refuses the message. */
  readonly standsAt?: string | undefined;
  /** Set for a message that executes a plan: the conversation writes its text and adds the plan. */
  readonly plan?: NamedPlan | undefined;
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

export type TableName =
  | 'tape'
  | 'runs'
  | 'turns'
  | 'results'
  | 'steers'
  | 'windows'
  | 'offers'
  | 'left_out'
  | 'images';
