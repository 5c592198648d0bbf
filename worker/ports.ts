/**
 * What each Durable Object answers, and the types that travel on it. Callers and objects both import this file and never
 * each other. Types only.
 */
import type { Cancelled } from '../shared/answers.ts';
import type {
  ConversationInfo,
  ConversationList,
  ConversationPatch,
} from '../shared/conversations.ts';
import type { TapeEvent } from '../shared/events.ts';
import type { BridgeInfo } from '../shared/listings.ts';
import type { OfferSet } from '../shared/offer.ts';
import type {
  ApprovalRequest,
  ClarificationAnswer,
  Delivery,
  MessageContent,
} from '../shared/requests.ts';
import type { ApprovalAnswer, ToolCall, ToolResult } from '../shared/tunnel.ts';
import type { Machine, RunRequest } from './conversation/store/rows.ts';
import type { Outcome } from './outcome.ts';

/** Who asks, and of which conversation; both come from the Worker, which has checked the token. */
export interface Caller {
  readonly account: string;
  readonly conversationId: string;
}

/**
 * One conversation. Expected failures come back as {@link Outcome}; every method with a caller checks the owner. Followers
 * and whole documents go over its `fetch` (conversation/reading/requests.ts).
 */
export interface ConversationPort extends Rpc.DurableObjectBranded {
  /** Appends a message and answers it; returns as soon as both are stored. */
  submit(caller: Caller, submission: Submission): Promise<Outcome<{ responseId: string }>>;

  /** Idempotent: a response that has ended stays as it ended. */
  cancel(caller: Caller, ordinal: number): Promise<Outcome<Cancelled>>;

  /** Changes a message that still waits for its turn. */
  edit(caller: Caller, ordinal: number, content: MessageContent): Promise<Outcome<Cancelled>>;

  /** Whether there is such a response, or for null such a conversation. */
  find(caller: Caller, ordinal: number | null): Promise<Outcome<void>>;

  /** Renames or archives it. A patch without effect writes no event; the account is still updated. */
  update(caller: Caller, patch: ConversationPatch): Promise<Outcome<ConversationInfo>>;

  /** Ends what is at work and deletes everything. When this returns, nothing is on its way to the account any more. */
  delete(caller: Caller): Promise<Outcome<void>>;

  /** Makes this object a copy, unless it is a conversation already; see `forkConversation`. */
  fork(caller: Caller, source: ForkSource): Promise<Outcome<void>>;

  /** A page of what a copy up to this point takes over. */
  forkPage(caller: Caller, point: ForkPoint, start: PageStart): Promise<Outcome<ForkPage>>;

  /** The value is the bridge that the answer goes to: its tunnel hears whether the answer counts. */
  answerApproval(caller: Caller, callId: string, answer: ApprovalRequest): Promise<Outcome<string>>;

  answerClarification(
    caller: Caller,
    documentId: string,
    answer: ClarificationAnswer,
  ): Promise<Outcome<void>>;

  /** From the tunnel. The first result of a call wins; when this returns it is stored. */
  settle(callId: string, result: ToolResult): void;

  /** From the tunnel: live output of a call. */
  output(callId: string, delta: string): void;

  /** From the tunnel: the bridge asks a person. */
  approvalRequested(callId: string, asked: ApprovalAsked): void;

  /** From the tunnel: a question is settled, here or at the machine. */
  approvalResolved(callId: string, resolution: ApprovalResolution): void;
}

/** A message on its way into a conversation. */
export interface Posted {
  readonly request: RunRequest;
  readonly device: string | undefined;
  readonly delivery: Delivery;
  /** Fields of the message that say how its own run is to work: one that steers has none. */
  readonly ownFields: readonly string[];
}

/** A message for a conversation that may not exist yet. */
export interface Submission extends Posted {
  /** The bridge that the message names; a conversation that exists accepts only its own. */
  readonly bridgeId?: string | undefined;
  /** For a new conversation: its bridge, or null, and how it begins. Null for one that must be there. */
  readonly create: {
    readonly bridgeId: string | null;
    readonly title: string;
    readonly ephemeral: boolean;
  } | null;
}

/** A question as the bridge asks it. */
export type ApprovalAsked = Pick<
  Extract<TapeEvent, { type: 'approval_request' }>,
  'nonce' | 'proposal' | 'reason'
>;

/** How a question ended, as the bridge says. */
export type ApprovalResolution = Pick<ApprovalAsked, 'nonce'> &
  Pick<Extract<TapeEvent, { type: 'approval_resolved' }>, 'decision' | 'by' | 'message'>;

/** Up to which response a conversation is copied, and whether that is still part of the copy. */
export interface ForkPoint {
  readonly ordinal: number;
  readonly through: boolean;
}

export interface ForkSource extends ForkPoint {
  /** The conversation that is copied; it must be the caller's. */
  readonly from: string;
  /** Of the new conversation, instead of the old one's. */
  readonly title?: string | undefined;
}

/** A page of a conversation's rows, with what the copy has of the conversation itself. */
export interface ForkPage extends Page {
  readonly bridge: string | null;
  readonly title: string;
  /** The last response that is copied; 0 when none is. */
  readonly ordinal: number;
}

/** Rows as the tables hold them. */
export interface Page {
  readonly rows: readonly { readonly table: TableName; readonly row: StoredRow }[];
  /** Null after the last one. */
  readonly next: PageStart | null;
}

/** Where a page begins: a table of those that are copied, and how many of its rows were taken before. */
export interface PageStart {
  readonly table: number;
  readonly offset: number;
}

export type TableName = 'tape' | 'runs' | 'turns' | 'results' | 'steers' | 'windows' | 'offers';

export type StoredRow = Record<string, SqlStorageValue>;

/** One bridge's side of the edge. The bridge itself comes over `fetch`, with a WebSocket. */
export interface TunnelPort extends Rpc.DurableObjectBranded {
  /** The bridge as it last introduced itself; null when it never did or belongs to another account. */
  describe(account: string): MachineSeen | null;

  /** The set of this digest; null where it is not known any more, and like {@link describe}. */
  offers(account: string, digest: string): OfferSet | null;

  /**
   * The bridge with a fresh look at its workspace, for a run that begins: after
   * CONTEXT_LIMITS.waitMs, and without a bridge that can look, what was known before. Null like
   * {@link describe}.
   */
  look(account: string): Promise<Look | null>;

  /** What is shown of the bridge to its owner; null like {@link describe}. */
  status(account: string): BridgeStatus | null;

  /**
   * Takes calls over. When this returns they are stored; the same call again changes nothing. Says how many rows this
   * takes, with those by which the calls will be delivered and deleted.
   */
  dispatch(account: string, calls: readonly ToolCall[]): Promise<number>;

  /** Ends calls, now or when the bridge is back. A call that was never sent is simply forgotten. */
  cancel(account: string, callIds: readonly string[]): void;

  /**
   * Keeps a person's answer until the bridge has acted on it. The first one counts. Says how many rows this takes, with
   * its deletion.
   */
  answer(account: string, answer: ApprovalAnswer): Promise<Outcome<number>>;

  /** Asked again and again while somebody waits, so that nothing waits here. */
  answerState(account: string, key: AnswerKey): AnswerState;
}

/** A bridge as it introduced itself: of what it offers only the digest of the set. */
export interface MachineSeen extends Omit<Machine, 'offers'> {
  readonly offers?: string;
}

/** A bridge as it is known now, and the rows that finding out took. */
export interface Look {
  readonly known: MachineSeen;
  readonly rows: number;
}

/** Which question an answer is to. */
export type AnswerKey = Pick<ApprovalAnswer, 'callId' | 'nonce'>;

/** What became of a person's answer. `over`: it counted, or its question has ended. */
export type AnswerState =
  | { readonly state: 'waiting'; readonly connected: boolean }
  | { readonly state: 'refused'; readonly message: string }
  | { readonly state: 'over' };

/** All of a bridge's listing but when it connected, which its account knows. */
export type BridgeStatus = Omit<BridgeInfo, 'lastConnected'>;

/** One account: which bridges and conversations it has. */
export interface AccountPort extends Rpc.DurableObjectBranded {
  /** Remembers a bridge, and that it connected now. */
  bridgeConnected(bridgeId: string): void;

  /** The bridge that connected last; null when the account has none. */
  defaultBridge(): string | null;

  /** The one that connected last comes first. */
  bridges(): KnownBridge[];

  /** Lists a conversation that was just made; one that is listed already stays as it is. */
  begin(conversation: Listed): void;

  /** At the end of a response: one row. Lists the conversation where it is not listed, and adds to its text. */
  answered(answered: Answered): void;

  /** Lists the conversation as it is now; `updatedMs` counts only where it was not listed. */
  update(conversation: Listed): ConversationInfo;

  /** Takes a deleted conversation off the list. */
  forget(conversationId: string): void;

  list(query: ListQuery): ConversationList;

  /** Uses a ticket up; false when it was used before. */
  redeem(ticketId: string, expiresMs: number): boolean;
}

export interface KnownBridge {
  readonly id: string;
  /** When it connected last, epoch milliseconds. */
  readonly connectedAtMs: number;
}

/** A conversation as it is listed; times in epoch milliseconds. */
export interface Listed {
  readonly id: string;
  readonly title: string;
  readonly archived: boolean;
  readonly createdMs: number;
  /** When it was last answered. */
  readonly updatedMs: number;
}

/** A conversation at the end of a response; `text` is what was said in it. */
export interface Answered extends Listed {
  readonly text: string;
}

export interface ListQuery {
  readonly limit: number;
  /** The end of the page before; null for the first one. */
  readonly after: ListPosition | null;
  /** All of them must stand in the title or the text; as `folded` (people/search.ts) gives them. */
  readonly words: readonly string[];
  readonly archived: boolean;
}

/** Where a page of the list ends. */
export interface ListPosition {
  readonly updatedMs: number;
  readonly id: string;
}
