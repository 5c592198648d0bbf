/** The stored rows of a conversation: their types, and the schemas of the parts that are checked whole. */
import * as z from 'zod';
import type { AgentStatus } from '../../../shared/api/conversations.ts';
import type {
  ChatMessage,
  MessageContent,
  OutputForm,
  QuestionPolicy,
  RequestContext,
  Sampling,
} from '../../../shared/api/requests.ts';
import type { ToolSelection } from '../../../shared/tools/selection.ts';
import type { ClientTool, ToolDemand } from '../../../shared/tools/toolbox.ts';
import { ClosedWorktree } from '../../../shared/tools/worktree.ts';
import type { RunBudget } from '../../../shared/wire/budget.ts';
import type { ModeDefinition } from '../../../shared/wire/definitions.ts';
import { Metadata, Todo, Usage } from '../../../shared/wire/documents.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import type { Attachment, Findings } from '../../../shared/wire/findings.ts';
import type { Mode } from '../../../shared/wire/modes.ts';
import type { OfferSet } from '../../../shared/wire/offer.ts';
import type { PlanName, PlanState } from '../../../shared/wire/plans.ts';
import type { MachineContext, ToolResult } from '../../../shared/wire/tunnel.ts';
import type { UndoFields } from '../../../shared/wire/undo.ts';

export interface ConversationRow {
  readonly id: string;
  readonly owner: string;
  readonly bridge: string | null;
  readonly created: string;
  readonly title: string;
  readonly archived: boolean;
  /** Created for one answer: not in the account's list, and deleted some time after the answer. */
  readonly ephemeral: boolean;
  /** Hours after the last answer until the text is deleted. Null where the conversation is not private. */
  readonly deleteAfterHours: number | null;
  /** Set once the text is deleted: nothing but this row is stored then. Epoch milliseconds. */
  readonly deletedMs?: number | undefined;
  /** The attempts that were begun to let a model title it. Null once nothing but a person may change the title. */
  readonly titleAttempts: number | null;
  /** Set for an agent: a conversation that works in the background (worker/agents/). */
  readonly agent?: AgentRow | undefined;
  /** Its parent's call, where a subagent works in it: unlisted, without people's messages, deleted with its parent. */
  readonly parent?: Parent | undefined;
}

export const Parent = z.object({ conversationId: z.string(), callId: z.string() });
export type Parent = z.infer<typeof Parent>;

/** The stored part of an agent. */
export interface AgentRow {
  readonly settings: AgentSettings;
  /** The status that was noticed last. */
  readonly status: AgentStatus;
  /** The status that the account's list has; null before the first one. */
  readonly listed: AgentStatus | null;
  /** Absent while the newest end of a run in the worktree is that of one that closed it itself. */
  readonly closing?: WorktreeClosing | undefined;
}

/** The close of a worktree after a run that ended without one. It belongs to no run. */
export const WorktreeClosing = z.object({
  callId: z.string(),
  /** Absent until the bridge has answered; null where it could not close the worktree. */
  closed: ClosedWorktree.nullable().optional(),
});
export type WorktreeClosing = z.infer<typeof WorktreeClosing>;

const AgentWebhook = z.object({
  url: z.string(),
  /** `whsec_` and base64. */
  secret: z.string(),
  /** Set once the receiver has answered 410. */
  isGone: z.boolean().optional(),
});
export type AgentWebhook = z.infer<typeof AgentWebhook>;

/** How a worktree begins and ends (shared/tools/worktree.ts). */
const RunWorktree = z.object({
  branch: z.string().optional(),
  base: z.string().optional(),
  commit: z.boolean(),
});
export type RunWorktree = z.infer<typeof RunWorktree>;

/** The settings of an agent, which hold for all its runs. */
export const AgentSettings = z.object({
  webhook: AgentWebhook.optional(),
  /** Set for an agent that works in a worktree of its own. */
  worktree: RunWorktree.optional(),
});
export type AgentSettings = z.infer<typeof AgentSettings>;

/** Stands for a damaged event. */
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

/** What a run may do: the policy of `mode`, and the mode of the workspace that narrows it. */
export interface RunMode {
  readonly mode: Mode;
  readonly own?: ModeDefinition | undefined;
}

/** A run's request: fixed once it has started, but for a `plan_file`'s plan. */
export type RunRequest = RequestFields & Errand;

/** The request of a run of this kind. */
export type RequestOf<Type> = Extract<RunRequest, { readonly type: Type }>;

/** What the run is for. */
export type Errand =
  | { readonly type: 'message' }
  /** Executes a plan: the plan as requested. Its todos, in the order of work, become the list. */
  | { readonly type: 'plan'; readonly plan: PlanState }
  /** Executes a plan of a file: reads the file first, and then gets `plan`. */
  | {
      readonly type: 'plan_file';
      readonly planFile: string;
      readonly plan?: PlanState | undefined;
    }
  | { readonly type: 'subagent'; readonly subagent: SubagentRole }
  /** Asks no model: saves a plan (shared/tools/save-plan.ts). */
  | { readonly type: 'save'; readonly save: { readonly path: string; readonly contents: string } }
  /** Asks no model: takes changes of files back, or shows what that would do (shared/tools/undo.ts). */
  | { readonly type: 'undo'; readonly undo: UndoFields & { readonly preview: boolean } }
  /** Has the conversation summarised: asks the model for nothing else. */
  | { readonly type: 'compact'; readonly compact: true }
  /** Asks no model: a guest at the bridge began its only call (shared/tools/guest-edit.ts). */
  | { readonly type: 'guest'; readonly guest: { readonly callId: string; readonly path: string } };

/** An errand as it is asked for: the conversation finds the plan that it names. */
export type WantedErrand =
  | Exclude<Errand, { readonly type: 'plan' | 'save' }>
  | { readonly type: 'plan'; readonly named: NamedPlan }
  | { readonly type: 'save'; readonly named: NamedPlan; readonly as: SaveAs };

/** Names a plan. `version` is the one that the person saw; undefined for any. */
export interface NamedPlan extends PlanName {
  readonly version: number | undefined;
}

/** How a plan is to be saved. Without a name, the plan's title makes one. */
export interface SaveAs {
  readonly name: string | undefined;
}

/** A request before it is a run's: what it is about is known, but not its plan. */
export type AskedRequest = RequestFields & Pick<Errand, 'type'>;

/** The fields that the request of any run can have. */
export interface RequestFields extends RunMode {
  readonly model: string;
  /**
   * The mode of the workspace that the request names. The run looks it up when it starts; until then `mode` is `ask`.
   * `isModelOpen`: the request names no model, so the mode may choose it.
   */
  readonly wantedMode?: { readonly name: string; readonly isModelOpen: boolean } | undefined;
  /** The messages to append to the transcript; the last one is the user's. */
  readonly messages: readonly ChatMessage[];
  readonly tools?: ToolSelection | undefined;
  /** Tools of the app that asks, beside the agent's own. */
  readonly clientTools?: readonly ClientTool[] | undefined;
  /** Holds for the run's first turn. */
  readonly demand?: ToolDemand | undefined;
  /** Set where the final answer must be JSON. */
  readonly output?: OutputForm | undefined;
  readonly context?: RequestContext | undefined;
  /** Whether the model's reasoning is shown. */
  readonly withReasoning?: boolean | undefined;
  /** Sent to the model server with each request of the run. */
  readonly sampling?: Sampling | undefined;
  /** Whether the agent may ask no questions, because no person could answer them. */
  readonly unasking?: boolean | undefined;
  /** What happens when no one answers a question. */
  readonly questions?: Omit<QuestionPolicy, 'allowed'> | undefined;
  /** What the run and its subagents may spend. */
  readonly budget?: RunBudget | undefined;
  /** Set where calls work in a worktree: the conversation's own, or for a subagent that of the one with this id. */
  readonly worktree?: true | string | undefined;
  /** Identifies the request, so that it is not carried out twice. */
  readonly idempotency?: { readonly key: string; readonly digest: string } | undefined;
  /** Of the request that began it; a subagent has its parent's. Undefined in rows of earlier versions. */
  readonly trace?: string | undefined;
  readonly createdMs: number;
}

export const SubagentRole = z.object({
  type: z.string(),
  /** 1 for a subagent of a conversation that is none itself. */
  depth: z.int(),
  /** How many subagents its run may start, with those below them. */
  mayStart: z.int(),
  /** Set below an agent that works in the background. */
  isUnattended: z.literal(true).optional(),
  /** The workspace's file that defines the type, as the parent's run began. Absent for a built-in type. */
  definition: z.object({ path: z.string(), text: z.string() }).optional(),
});
export type SubagentRole = z.infer<typeof SubagentRole>;

/** The bridge as it was when the run started. A run without a bridge has null instead. */
export interface Machine {
  readonly tools: readonly string[];
  readonly context: MachineContext;
  /** Undefined in rows of earlier versions. */
  readonly isConnected?: boolean;
  /** The tools that it offered then; undefined where it offered none. */
  readonly offers?: OfferSet;
  /** What it found for the run's message; undefined where it found nothing in time. */
  readonly findings?: Omit<Findings, 'worktree'>;
  /** Whether `context` has the layout and git's status of the run's worktree, in place of the workspace's. */
  readonly isInWorktree?: boolean;
}

export interface Run {
  readonly ordinal: number;
  readonly status: RunStatus;
  /** The position of its `message`. */
  readonly first: number;
  /** The position of its `response_start`; null while queued. */
  readonly started: number | null;
  /** The position after its `done`; null until then. */
  readonly last: number | null;
  readonly request: RunRequest;
  readonly machine: Machine | null;
  /** Takeovers since the last completed turn. */
  readonly takeovers: number;
  /** Epoch milliseconds until which calls may take longer, because a person is or was asked; otherwise null. */
  readonly deadline: number | null;
  /** Attempts at the next turn that failed before followers saw anything. */
  readonly failures: number;
  /** Epoch milliseconds before which the next attempt may not begin. */
  readonly notBefore: number;
  /** The number that its first turn has or will have; null while queued. */
  readonly firstTurn: number | null;
  /** The mode that a person has let it switch to. It counts in place of the mode of the request. Not in its row. */
  readonly switched?: RunMode | undefined;
  /** Set when part of its row, or of the row with its end, cannot be read and has a substitute value. */
  readonly isDamaged?: true;
}

export type NewRun = Omit<
  Run,
  'last' | 'takeovers' | 'deadline' | 'failures' | 'notBefore' | 'switched' | 'isDamaged'
>;

/** A tool call of a turn. Drawbridge makes `callId`; the transcript sends the upstream its own `upstreamId`. */
export const Call = z.object({
  callId: z.string(),
  upstreamId: z.string(),
  documentId: z.string(),
  /** The name that the model used. */
  name: z.string(),
  rawArguments: z.string(),
  /** Null when the call must not run; `problem` then says why. */
  arguments: Metadata.nullable(),
  problem: z.string().optional(),
  /** The arguments that the tool does not know, as text for the model. */
  ignored: z.string().optional(),
  /** Unknown fields of the upstream's call, which the transcript sends back. */
  extra: Metadata.optional(),
});
export type Call = z.infer<typeof Call>;

/** One complete reply of the model. */
export interface Turn {
  readonly number: number;
  readonly run: number;
  readonly text: string;
  readonly reasoning: string | null;
  readonly reasoningDetails?: readonly unknown[] | undefined;
  readonly calls: readonly Call[];
  /** The model that was asked; undefined for a turn of Drawbridge's own, and in rows of earlier versions. */
  readonly model?: string | undefined;
  readonly usage: Usage | null;
  /** The JSON that it holds, where its run wants JSON and this is its end. */
  readonly output?: string | undefined;
  /** The settings that its request had differently, because the model server refuses them. */
  readonly adjusted?: readonly string[] | undefined;
  /** Set in a run with a budget where the model server reported no usage. */
  readonly estimate?: Usage | undefined;
  /** The sequence of its last document. Later documents of a crashed instance belong to no turn and are taken back. */
  readonly lastSequence: number;
  readonly atMs: number;
  /** The end of its run, where the run ended with this turn: one row then stores both. */
  readonly end?: RunEnd | undefined;
  /**
   * Set for a turn that asked no model, and that no model learns of as its own. `check`: it searches for what a debug
   * run left (run/steps/debug-check.ts). `worktree`: it opens or closes the worktree (run/steps/worktree.ts). `plan`: it
   * reads, shows or saves a plan (run/steps/plan-files.ts). `undo`: it takes changes of files back (run/steps/undo.ts).
   */
  readonly own?: 'check' | 'worktree' | 'plan' | 'undo' | undefined;
  /** Set when the row cannot be read and another turn stands for it. */
  readonly isDamaged?: true;
}

/** A stored result. Where the model gets only a note, `data` can be just the head and the tail. */
export type SentResult = ToolResult & {
  /** Characters of the whole `data`, where only part of it was read. */
  readonly wholeChars?: number;
};

/** What a run takes in after its message: words, a person's change of the plan, another mode, or a note. */
export interface Steer {
  readonly number: number;
  readonly run: number;
  /** The number of its run's turns before it; null until the model learns of it. */
  readonly turns: number | null;
  readonly content: MessageContent;
  /** The plan after the change. Its `content` above is then empty. */
  readonly plan?: PlanState | undefined;
  /** What its mentions lead to; undefined until they were looked up. */
  readonly attachments?: readonly Attachment[] | undefined;
  /** Set for a note of Drawbridge itself, which is sent as it is. */
  readonly isNote?: true | undefined;
  /** The mode from here on. `content` is then empty. */
  readonly switched?: RunMode | undefined;
  readonly idempotency?: RunRequest['idempotency'];
}

/**
 * A part of the conversation: with the number of a run or of a turn. `found`: the pictures of a run's messages and what
 * they name. `results`: those of a turn. `run`: all of a run. `before`: everything before a run.
 */
export const LeftPart = z.object({
  type: z.enum(['found', 'results', 'run', 'before']),
  number: z.int(),
});
export type LeftPart = z.infer<typeof LeftPart>;

/** What a model does not get because its server refused it, or perhaps refused it. */
export const LeftRow = z.object({
  /** The name of the model. */
  model: z.string(),
  part: LeftPart,
  /** Set while no request without the part was tried: only a refusal of a later request leads to that. */
  isSuspect: z.literal(true).optional(),
});
export type LeftRow = z.infer<typeof LeftRow>;

/** A turn that is not in the log yet. */
export type NewTurn = Omit<Turn, 'number' | 'run'>;

export interface RunEnd {
  readonly status: RunStatus;
  /** The position after the run's `done`. */
  readonly last: number;
}

/** Where the messages sent word for word begin in a long conversation. The newest one applies; none changes. */
export interface Window extends NewWindow {
  readonly number: number;
  /** The run that made the window and whose usage includes it. */
  readonly run: number;
}

/** What the model gets in place of everything before a window. */
const Digest = z.object({
  /** The model's summary; where it failed, a list of what was done. */
  summary: z.string(),
  /** The user's own words, oldest first. */
  words: z.array(z.string()),
  /** The newest plan, as Markdown. */
  plan: z.string().nullable(),
  /** The list of todos at that place. */
  todos: z.array(Todo),
  /** The texts of skills and commands that were activated before. Absent in rows of earlier versions. */
  skills: z.array(z.object({ name: z.string(), text: z.string() })).optional(),
});
export type Digest = z.infer<typeof Digest>;

/** The measured sizes at the time when a window was made. */
const WindowScale = z.object({
  /** The number of the newest turn then, 0 for none. Later turns were measured under this window. */
  since: z.int(),
  /** Tokens per UTF-16 unit of a request. */
  tokensPerChar: z.number(),
  /** Set once a model refused a request that should have fitted: `chars` are assumed to fit now. */
  refused: z.object({ model: z.string(), chars: z.number() }).nullable(),
});
export type WindowScale = z.infer<typeof WindowScale>;

/** A window that is not in the log yet. */
export const NewWindow = z.object({
  /** Where the messages sent word for word begin: in this run, after so many of its turns. Everything before is in `digest`. */
  from: z.object({ run: z.int(), turns: z.int() }),
  /** Turns up to this number are sent without their calls' results; 0 for none. */
  prunedThrough: z.int(),
  /** Null while only results are left out. */
  digest: Digest.nullable(),
  /** The model that was asked for a summary; undefined where none was, and in rows of earlier versions. */
  model: z.string().optional(),
  /** The usage of the summary; null where none was made or none was reported. */
  usage: Usage.nullable(),
  /** Set when a summary was requested and the model server reported no tokens for it. */
  isUnreported: z.literal(true).optional(),
  /** Set together with `isUnreported`. */
  estimate: Usage.optional(),
  scale: WindowScale,
});
export type NewWindow = z.infer<typeof NewWindow>;
