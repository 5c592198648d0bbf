/** What a conversation stores, as the code sees it. */
import type { Todo, Usage } from '../../../shared/documents.ts';
import type { TapeEvent } from '../../../shared/events.ts';
import type { Mode } from '../../../shared/modes.ts';
import type { OfferSet } from '../../../shared/offer.ts';
import type {
  ChatMessage,
  MessageContent,
  RequestContext,
  Sampling,
} from '../../../shared/requests.ts';
import type { ToolSelection } from '../../../shared/tools/selection.ts';
import type { MachineContext, ToolResult } from '../../../shared/tunnel.ts';

export interface ConversationRow {
  readonly id: string;
  readonly owner: string;
  readonly bridge: string | null;
  readonly created: string;
  readonly title: string;
  readonly archived: boolean;
  /** Made for one answer: not listed, and deleted some time after it. */
  readonly ephemeral: boolean;
}

/** An event that is damaged: it cannot be read any more. */
export interface Lost {
  readonly type: 'lost';
  readonly width: number;
}

/** Consecutive events from `position` on. */
export interface TapeRow {
  readonly position: number;
  readonly events: readonly (TapeEvent | Lost)[];
}

export type RunStatus = 'queued' | 'running' | 'completed' | 'error' | 'cancelled';

/** What was asked for: fixed when the run is submitted. */
export interface RunRequest {
  readonly model: string;
  readonly mode: Mode;
  /** Appended to the transcript; the last one is the user's. */
  readonly messages: readonly ChatMessage[];
  readonly tools?: ToolSelection | undefined;
  readonly context?: RequestContext | undefined;
  /** Whether what the model thinks is shown. */
  readonly withReasoning?: boolean | undefined;
  /** Told to the model server with each request of the run. */
  readonly sampling?: Sampling | undefined;
  /** Nobody could answer a question: the agent cannot ask any. */
  readonly unasking?: boolean | undefined;
  /** Names the request, so that it is not carried out twice. */
  readonly idempotency?: { readonly key: string; readonly digest: string } | undefined;
  readonly createdMs: number;
}

/** The bridge as the run found it at its start; null without one. */
export interface Machine {
  readonly tools: readonly string[];
  readonly context: MachineContext;
  /** Missing in rows of earlier versions. */
  readonly isConnected?: boolean;
  /** What it offered then; missing where it offered nothing. */
  readonly offers?: OfferSet;
}

export interface Run {
  readonly ordinal: number;
  readonly status: RunStatus;
  /** Position of its `message`. */
  readonly first: number;
  /** Position of its `response_start`; null while queued. */
  readonly started: number | null;
  /** Position after its `done`; null until then. */
  readonly last: number | null;
  readonly request: RunRequest;
  readonly machine: Machine | null;
  /** Takeovers since the last completed turn. */
  readonly takeovers: number;
  /** Epoch milliseconds until which its calls may take longer than usual, for a person is or was asked; else null. */
  readonly deadline: number | null;
  /** Attempts at the next turn that failed before anything was shown. */
  readonly failures: number;
  /** Epoch milliseconds before which there is no other attempt. */
  readonly notBefore: number;
  /** The number that its first turn has, or would have had; null while queued. */
  readonly firstTurn: number | null;
  /** Something of its row, or of the one that says how it ended, cannot be read: another value stands for it. */
  readonly isDamaged?: true;
}

/** A run as it is submitted. */
export type NewRun = Omit<
  Run,
  'last' | 'takeovers' | 'deadline' | 'failures' | 'notBefore' | 'isDamaged'
>;

/** A tool call of a turn. `callId` is ours; the upstream's own id goes back to it in the transcript. */
export interface Call {
  readonly callId: string;
  readonly upstreamId: string;
  readonly documentId: string;
  /** As the model named it. */
  readonly name: string;
  readonly rawArguments: string;
  /** Null when the call must not run; `problem` then says why. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
  readonly problem?: string | undefined;
  /** Unknown fields of the upstream's call, to be echoed. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** One reply of the model, complete. */
export interface Turn {
  readonly number: number;
  readonly run: number;
  readonly text: string;
  readonly reasoning: string | null;
  readonly reasoningDetails?: readonly unknown[] | undefined;
  readonly calls: readonly Call[];
  readonly usage: Usage | null;
  /** The sequence of its last document: later ones of a crashed instance belong to no turn and are taken back. */
  readonly lastSequence: number;
  readonly atMs: number;
  /** How its run ended, where the run ended with this turn: one row then says both. */
  readonly end?: RunEnd | undefined;
  /** It cannot be read: another one stands for it. */
  readonly isDamaged?: true;
}

/** A result; of one that is told as a note anyway `data` can be only the head and the tail. */
export type ToldResult = ToolResult & {
  /** Characters of its whole `data`, where only part of it is here. */
  readonly wholeChars?: number;
};

/** A message that was sent to a run at work. */
export interface Steer {
  readonly number: number;
  readonly run: number;
  /** How many turns of its run stand before it; null until the model is told of it. */
  readonly turns: number | null;
  readonly content: MessageContent;
  readonly idempotency?: RunRequest['idempotency'];
}

/** A turn before it has its place in the log. */
export type NewTurn = Omit<Turn, 'number' | 'run'>;

export interface RunEnd {
  readonly status: RunStatus;
  /** Position after the run's `done`. */
  readonly last: number;
}

/**
 * What the model is still told word for word once the conversation has outgrown it. What was said stays stored as it
 * was; a window is appended, never changed, and the newest one counts.
 */
export interface Window {
  readonly number: number;
  /** The run that made it, and pays for it. */
  readonly run: number;
  /** Where the words begin: at this run, behind so many of its turns. Everything before stands in `digest`. */
  readonly from: { readonly run: number; readonly turns: number };
  /** Turns up to this one are told without what their calls came to; 0 for none. */
  readonly prunedThrough: number;
  /** Null while only results were left out. */
  readonly digest: Digest | null;
  /** What the model took for the summary; null where none was made, or none was reported. */
  readonly usage: Usage | null;
  /** A summary was asked for, and the model server reported no tokens for it. */
  readonly isUnreported?: true | undefined;
  readonly scale: WindowScale;
}

/** What was known of sizes when a window was made. */
export interface WindowScale {
  /** The newest turn then, 0 for none: what later ones took was measured under this window. */
  readonly since: number;
  /** Tokens that a UTF-16 unit of a request comes to. */
  readonly tokensPerChar: number;
  /** Set once a model refused a request that should have fitted: UTF-16 units that it is taken to have room for. */
  readonly refused: { readonly model: string; readonly chars: number } | null;
}

/** A window before it has its place in the log. */
export type NewWindow = Omit<Window, 'number' | 'run'>;

/** What stands for everything before a window. */
export interface Digest {
  /** By the model; where it failed, a list of what was done. */
  readonly summary: string;
  /** The user's own words, oldest first. */
  readonly words: readonly string[];
  /** The newest plan, as Markdown. */
  readonly plan: string | null;
  /** The list of todos as it was. */
  readonly todos: readonly Todo[];
}
