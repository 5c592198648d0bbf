/** What the object of an account answers, and what it takes and gives. Its callers and it import this, and never each other. */
import type { AccountStanding, AccountState } from '../../shared/api/accounts.ts';
import type { AgentList } from '../../shared/api/agents.ts';
import type {
  AgentStatus,
  ConversationInfo,
  ConversationList,
} from '../../shared/api/conversations.ts';
import type { PushRequest } from '../../shared/api/push.ts';
import type { SessionKey, SessionKind } from '../../shared/api/sessions.ts';
import type { UsageEntry, UsageList } from '../../shared/api/usage.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import type { ResponseStatus, Usage } from '../../shared/wire/documents.ts';
import type { Outcome } from '../outcome.ts';
import type { Act, RecordsPage, StoredRecord } from '../storage/records.ts';

/** A conversation or a bridge that is to be deleted. */
export interface DoomedPart {
  readonly type: 'conversation' | 'bridge';
  readonly id: string;
}

/** What an object of a conversation or a bridge knows of itself. */
export interface Belonging {
  readonly id: string;
  readonly account: string;
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

/** One account: its bridges and conversations. */
export interface AccountPort extends Rpc.DurableObjectBranded {
  /** Remembers a bridge, and that it connected now, in another process's place. Changes nothing where it is refused. */
  bridgeConnected(bridgeId: string, session?: string, replaces?: boolean): Refused | null;

  /** A bridge has closed its connection, and has no other one. */
  bridgeClosed(bridgeId: string): void;

  /** Lists a bridge of another account, whose machine lets this one in. Changes nothing if it is listed. */
  bridgeShared(bridgeId: string): void;

  /** All bridges. The bridge that connected last comes first. */
  bridges(): KnownBridge[];

  /** Notes a conversation that is about to be stored, so that a deletion finds it. Changes nothing where it is refused. */
  making(conversationId: string): Refused | null;

  /** Lists a new conversation. Changes nothing if it is listed already. */
  begin(conversation: Listed): void;

  /** At the end of a response: lists the conversation, adds its text (one row) and uncounted spending (one a model). */
  answered(answered: AnsweredExchange): void;

  /** Updates the listing. Uses `updatedMs` only if the conversation was not listed. Adds `spent`, once for each call. */
  update(conversation: Listed, spent?: UsageEntry): ConversationInfo;

  /** What the account has heard of a conversation. */
  heard(conversationId: string): Heard;

  /** Adds what a conversation has spent, apart from an answer. Changes nothing if it is counted. */
  count(conversationId: string, spent: SpentSince): void;

  usage(range: UsageRange): { items: UsageList['items']; hasMore: boolean };

  /** Tokens of models that the account has used on a day of UTC. */
  spent(day: string): number;

  /** Removes a deleted conversation from the list, and its mark. `session`: the one that deleted it. */
  forget(conversationId: string, session?: string): void;

  /** Marks a conversation, listed or not, while something in it waits for a person. Changes nothing if all is known. */
  acts(conversationId: string, activity: Activity): void;

  /** The conversations that wait for a person, the longest first. Some may have been answered a moment ago. */
  waiting(): string[];

  /** A {@link ConversationList} as JSON, which the Worker passes on as it is. */
  list(query: ListQuery, stillAsked: StillAsked): Promise<string>;

  /** The agents among the conversations. */
  agents(query: AgentListQuery, stillAsked: StillAsked): Promise<AgentList>;

  /** What the list has of a private conversation; null for any other one. */
  privateListing(conversationId: string): PrivateListing | null;

  /** The account's default for new conversations; undefined where it has none. Null: not private. */
  deleteAfterHours(): number | null | undefined;

  setDeleteAfterHours(hours: number | null): void;

  /** Whether a ticket opens its stream: for its first reader in time, or with `isReturn` for one that was there before. */
  redeem(ticket: StoredTicket, isReturn: boolean): boolean;

  /** Adds a session that `admittedBy` lets in, once. Fails with ENTRY_ENDED, RATE_LIMITED, or by the standing. */
  addSession(session: NewStoredSession, admittedBy: string | undefined): Outcome<void>;

  /** The sessions that have not ended, the newest first. */
  sessions(): StoredSession[];

  /** The session if this proof is of its key and was not used before. Fails with UNAUTHENTICATED and like {@link refusal}. */
  proveSession(id: string, proof: string): Promise<Outcome<StoredSession>>;

  /** Why the account takes nothing from this session, or from a token without one; else null. Notes that it is used. */
  refusal(session: string | undefined): Refused | null;

  /** The session's subscription to notifications; null without one. */
  push(session: string): StoredPush | null;

  /** Replaces the subscription of a living session; null removes it. A topic without a token keeps its old one. */
  savePush(session: string, push: StoredPush | null): void;

  /** Ends a session for session `by`. Requests are refused at once; streams and bridges are cut soon after. */
  endSession(id: string, by?: string): void;

  /** Fails with NOT_FOUND if nothing of the account was ever stored. */
  standing(): Outcome<Standing>;

  /**
   * Suspends or deletes the account, or lifts that. What it sends is refused when this returns; its streams and bridges
   * are cut and its responses ended soon after, and what it has is deleted. Fails like {@link standing}, and with
   * ACCOUNT_DELETED where a deletion stands in the way.
   */
  changeState(wanted: WantedState): Promise<Outcome<Standing>>;

  /**
   * Deletes the account although its file is damaged: empties the file, and deletes what the old lists still tell. Never
   * rejects for what it cannot read of them.
   */
  wipe(): Promise<void>;

  /** Takes what a deleted account has left behind, and deletes it soon after. False for an account that lives. */
  left(part: DoomedPart): boolean;

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
export type Standing = Pick<AccountStanding, 'has' | 'deleted'> & {
  readonly state: AccountState;
  /** When it got into its state, epoch milliseconds; null if it has always been active. */
  readonly sinceMs: number | null;
};

/** A ticket as its account looks at it. Times are epoch milliseconds. */
export interface StoredTicket {
  readonly id: string;
  /** Until when it may be used first. */
  readonly firstMs: number;
  /** Until when its reader may come back. */
  readonly expiresMs: number;
}

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
  /** The run that has just ended, for a notification. Undefined for a copy, and where a crash lost the report. */
  readonly run?: EndedRun | undefined;
}

/** How a run ended. */
export interface EndedRun {
  readonly status: ResponseStatus;
  readonly durationMs: number;
}

/** What an account has heard of a conversation. */
export interface Heard {
  readonly isListed: boolean;
  /** The run through which usage is counted. Null for a conversation listed before usage was counted. */
  readonly through: number | null;
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

/** Asked between the parts of a long read whether its client still waits. Fails where the client's request is over. */
export type StillAsked = () => boolean | Promise<boolean>;

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
