/** What the object of a bridge answers, and what it takes and gives. Its callers and it import this, and never each other. */
import type { BridgeDetails, BridgeInfo } from '../../shared/api/listings.ts';
import type { SessionKey } from '../../shared/api/sessions.ts';
import type { EnrolmentOutcome, EnrolmentRequest } from '../../shared/wire/enrolment.ts';
import type { FileQuery, FoundFile } from '../../shared/wire/files.ts';
import type { Findings, MessageLook } from '../../shared/wire/findings.ts';
import type { OfferSet } from '../../shared/wire/offer.ts';
import type { MachinePolicy } from '../../shared/wire/policy.ts';
import type { ProcessAsk, ProcessReport } from '../../shared/wire/processes.ts';
import type { ApprovalAnswer, ToolCall } from '../../shared/wire/tunnel.ts';
import type { Machine } from '../conversation/store/rows.ts';
import type { Outcome } from '../outcome.ts';
import type { Belonging, Refused } from './account.ts';

/** The edge's end of one bridge's tunnel. The bridge itself connects over `fetch`, with a WebSocket. */
export interface TunnelPort extends Rpc.DurableObjectBranded {
  /** The bridge as of its last hello, without the owner's things for guests. Null without one, or without access. */
  describe(account: string): MachineSeen | null;

  /** The set of tools with this digest. Null if it is no longer stored, and for others than the owner. */
  offers(account: string, digest: string): OfferSet | null;

  /** As {@link describe}, with a fresh look if one comes within CONTEXT_LIMITS.waitMs (longer with mentions). */
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

  /** Lets the bridge move to the machine with this key, once and soon. False for others than the owner. */
  allowMove(account: string, key: SessionKey): boolean;

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

  /** Keeps a person's first answer until the bridge has acted on it. Returns the rows written, with the deletion. */
  answer(account: string, answer: ApprovalAnswer): Promise<Outcome<number>>;

  /** From the account: this session may do no more, or for null no connection of the account. Closes its sockets. */
  endSession(account: string, session: string | null, why: Refused): void;

  /** From the account, which is being deleted: deletes everything. False for a bridge of another account. */
  erase(account: string): Promise<boolean>;

  /** Whose bridge this is; null for one that never connected. */
  owner(): Belonging | null;

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
