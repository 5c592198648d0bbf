/** The frames between a bridge and its tunnel object, one union a direction. Both ends refuse unknown frames. */
import * as z from 'zod';
import { BridgeId, CallId, ConversationId, DeviceId, ResponseId } from '../ids.ts';
import {
  EDITOR_LIMITS,
  GRANT_LIMITS,
  REQUEST_LIMITS,
  SESSION_LIMITS,
  TUNNEL_LIMITS,
} from '../limits.ts';
import { named } from '../named.ts';
import { AllowedPath } from '../text/paths.ts';
import { Lasting, Nonce, Patterns, Proposal, Scope, Signature } from './approvals.ts';
import { DefinitionSet } from './definitions.ts';
import { Metadata } from './documents.ts';
import { EnrolmentOutcome, EnrolmentRequest } from './enrolment.ts';
import { FileQuery, FoundFiles } from './files.ts';
import { Findings, MessageLook } from './findings.ts';
import { GrantedNames } from './grants.ts';
import { McpServerReports } from './mcp-servers.ts';
import { Mode } from './modes.ts';
import { OfferSet } from './offer.ts';
import { MachinePolicy } from './policy.ts';
import { ProcessAsk, ProcessReport } from './processes.ts';
import { RuleSet } from './rules.ts';
import { SkillSet } from './skills.ts';
import { TraceId } from './trace.ts';

/** Raise it with every change of this file that an older peer would misread. */
export const TUNNEL_PROTOCOL = 4;

/** WebSocket close codes of the tunnel. After these the bridge does not reconnect by itself. */
export const CLOSE = {
  /** A newer connection of the same bridge took over. */
  replaced: 4001,
  /** The two ends have different versions. The goodbye before it says which end to update. */
  protocolMismatch: 4002,
  /** The peer did not understand a frame. */
  badFrame: 4003,
  /** The bridge's token has expired. A bridge with another one may come back with it. */
  tokenEnded: 4004,
  /** The session of the bridge's token has ended: its machine must sign in again. */
  sessionEnded: 4005,
} as const;

/** The header of the answer to a bridge's upgrade that has the challenge: the server's time, a dot, and a nonce. */
export const CHALLENGE_HEADER = 'drawbridge-challenge';

/** The runtime itself answers it, without waking the object. */
export const PING = 'ping';
export const PONG = 'pong';

/** The outcome of a tool, as the bridge reports it. `code` is for programs, `data` is for the model. */
export const ToolResult = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.string(), metadata: Metadata.optional() }),
  z.object({
    status: z.literal('error'),
    code: z.string().max(TUNNEL_LIMITS.maxTextChars),
    data: z.string(),
    metadata: Metadata.optional(),
  }),
]);
export type ToolResult = z.infer<typeof ToolResult>;

/** The result of a call that failed, or was not run. */
export function failure(code: string, data: string): ToolResult {
  return { status: 'error', code, data };
}

/** Limits that the request sets for a call. They narrow what the bridge allows, and never widen it. */
export const CallLimits = z.object({
  /** The call may reach only these paths and paths below. The bridge cannot hold commands to it, so it refuses them. */
  allowedPaths: z.array(AllowedPath).min(1).max(REQUEST_LIMITS.maxAllowedPaths).optional(),
  /** The bridge asks a person first, even if the machine's rules allow the call. */
  requireApproval: z.boolean().optional(),
});
export type CallLimits = z.infer<typeof CallLimits>;

/** Of a question to the bridge that a person waits for. */
const AskId = z.string().max(REQUEST_LIMITS.maxNameChars);

const Grantee = z.string().min(1).max(GRANT_LIMITS.maxNameChars);

/** One tool call on its way to the bridge. The edge has parsed the arguments once; their names are canonical. */
export const ToolCall = z.object({
  callId: CallId,
  conversationId: ConversationId,
  tool: z.string(),
  arguments: Metadata,
  mode: Mode,
  limits: z.optional(CallLimits),
  /** For an offer: the digest of its definition. A bridge with another definition refuses the call. */
  definition: z.string().optional(),
  /** Why the edge demands an approval of this call; `limits.requireApproval` is set then. */
  approvalReason: z.string().max(TUNNEL_LIMITS.maxTextChars).optional(),
  /** The call works in a worktree, of its conversation or the one named. Only for a bridge that has worktrees. */
  worktree: z.union([z.literal(true), ConversationId]).optional(),
  /** Set in a private conversation: nothing of the call stays on a disk once it is over. */
  isPrivate: z.literal(true).optional(),
  /** The account whose call it is, unless it is the owner's. The bridge checks it in its own file. */
  grantee: z.optional(Grantee),
  /** The ids of the run and of its trace, for the bridge's log. */
  run: z.optional(ResponseId),
  trace: z.optional(TraceId),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** A person's answer to the question with this nonce. A device's approval must be signed (approvals.ts). */
export const ApprovalAnswer = z.object({
  callId: CallId,
  nonce: Nonce,
  decision: z.enum(['once', 'reject']),
  message: z.string().max(REQUEST_LIMITS.maxReasonChars).optional(),
  /** With `once`, where the question offers it: how far the yes reaches, and for what. The signature covers both. */
  scope: Scope.optional(),
  pattern: Patterns.optional(),
  /** With `once`, for an edit: the whole file as the person wants it. The signature covers it. */
  content: z.string().max(REQUEST_LIMITS.maxAmendedChars).optional(),
  signature: Signature.optional(),
});
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>;

/** The sandbox for commands on the machine. */
export const ReportedConfinement = z.object({
  kind: z.enum(['bubblewrap', 'sandbox-runtime', 'none']),
  /** One sentence: what the sandbox does, or why there is none. */
  detail: z.string(),
});
named.add(ReportedConfinement, { id: 'ReportedConfinement' });
export type ReportedConfinement = z.infer<typeof ReportedConfinement>;

/** The end of a selection that was cut to `EDITOR_LIMITS.maxSelectedChars`, as the CLIs of both families mark it. */
const SELECTION_CUT = '... [TRUNCATED]';

/** What the person has open in an editor on the machine, the file that had the focus last first. */
export const EditorContext = z.object({
  /** The editor's name for itself. */
  name: z.string().max(REQUEST_LIMITS.maxNameChars),
  openFiles: z
    .array(
      z.object({
        /** Relative to the workspace, or absolute for a file outside of it. */
        path: z.string().max(EDITOR_LIMITS.maxPathChars),
        /** Whether the file has the focus. At most one has it, and only that one has a cursor and a selection. */
        isActive: z.boolean().optional(),
        /** Both count from 1. */
        cursor: z.object({ line: z.int().positive(), character: z.int().positive() }).optional(),
        selectedText: z
          .string()
          .max(EDITOR_LIMITS.maxSelectedChars + SELECTION_CUT.length)
          .optional(),
      }),
    )
    .max(EDITOR_LIMITS.maxOpenFiles),
});
export type EditorContext = z.infer<typeof EditorContext>;

/** The machine's description for the prompt. It is untrusted text: the prompt escapes it and labels it as data. */
export const MachineContext = z.object({
  os: z.string().max(REQUEST_LIMITS.maxNameChars),
  shell: z.string().max(REQUEST_LIMITS.maxNameChars),
  workspacePath: z.string().max(REQUEST_LIMITS.maxMessageChars),
  projectLayout: z.string().max(REQUEST_LIMITS.maxContextChars),
  gitStatus: z.string().max(REQUEST_LIMITS.maxContextChars).optional(),
  /** Absent without an editor. */
  editor: EditorContext.optional(),
  /** Absent where the bridge could not read them. */
  rules: RuleSet.optional(),
  /** The workspace's own modes and agents; absent as `rules`. */
  definitions: DefinitionSet.optional(),
  /** Those of the workspace and of the owner; absent as `rules`. */
  skills: SkillSet.optional(),
});
export type MachineContext = z.infer<typeof MachineContext>;

/** Names a guest's call: both sides of the tunnel show it to people. */
const GuestText = z.string().min(1).max(REQUEST_LIMITS.maxPathChars);

/**
 * A guest at the bridge, which is another agent program, wants to change a file. The edge begins a run in the guest's
 * conversation and sends the call back like any other; or answers with `ack` where it cannot begin one. The same frame
 * again changes nothing.
 */
export const GuestCall = z.object({
  type: z.literal('guest_call'),
  callId: CallId,
  /** Made by the bridge, one for each session of a guest. */
  conversationId: ConversationId,
  /** The program's name. */
  program: GuestText,
  /** The title of a new conversation. */
  title: GuestText,
  path: GuestText,
});
export type GuestCall = z.infer<typeof GuestCall>;
const Hello = z.object({
  type: z.literal('hello'),
  protocol: z.int(),
  bridgeId: BridgeId,
  /** New with every start of the bridge process. */
  bootId: z.uuid(),
  tools: z.array(z.string().max(REQUEST_LIMITS.maxNameChars)).max(TUNNEL_LIMITS.maxTools),
  confinement: ReportedConfinement,
  context: MachineContext,
  /** The digest of the set that the bridge offers; absent if it offers nothing. */
  offers: z.string().optional(),
  /** Calls in the bridge's journal. The tunnel acks those that it no longer knows, so that the journal drops them. */
  calls: z.array(CallId).max(TUNNEL_LIMITS.maxListedCalls),
  /** The machine's own id, that of its device. */
  machineId: DeviceId.optional(),
  /** By the machine's key, over the connection's challenge (proof.ts). Absent from bridges of before. */
  proof: z.string().max(SESSION_LIMITS.maxProofChars).optional(),
  /** Whom the machine lets in beside the owner. Absent for no one. */
  grants: GrantedNames.optional(),
  /** The person has moved the bridge: its conversations go on in this folder of this machine. */
  moved: z.literal(true).optional(),
  /** The journal was restored, and may lack begun calls: the tunnel cancels every call that it has sent before. */
  restored: z.literal(true).optional(),
});
export type Hello = z.infer<typeof Hello>;

/** More calls in the journal, if one hello cannot list them all. */
const HeldCalls = z.object({
  type: z.literal('held_calls'),
  calls: z.array(CallId).max(TUNNEL_LIMITS.maxListedCalls),
});

const Result = z.object({ type: z.literal('result'), callId: CallId, result: ToolResult });

/** Live output. It may be dropped: the result has all of it, within bounds. */
const Output = z.object({ type: z.literal('output'), callId: CallId, delta: z.string() });

/** The whole file as an edit would leave it, for changing it. Unsigned: what counts is what the device sends. */
const NewText = z.string().max(REQUEST_LIMITS.maxAmendedChars);

/** The bridge asks a person about a call. It replaces an earlier question about this call with another nonce. */
const ApprovalRequest = z.object({
  type: z.literal('approval_request'),
  callId: CallId,
  nonce: Nonce,
  proposal: Proposal,
  reason: z.string().max(TUNNEL_LIMITS.maxTextChars),
  newText: NewText.optional(),
  lasting: Lasting.optional(),
});

/** An answer to this question did not count. The question stays open, and another answer may come. */
const ApprovalRefused = z.object({
  type: z.literal('approval_refused'),
  callId: CallId,
  /** The nonce of the answer, not of the open question. */
  nonce: Nonce,
  message: z.string().max(TUNNEL_LIMITS.maxTextChars),
});

const ApprovalResolved = z.object({
  type: z.literal('approval_resolved'),
  callId: CallId,
  nonce: Nonce,
  /** `superseded`: the proposal is out of date. The bridge asks about the call again, or no longer needs an answer. */
  decision: z.enum(['once', 'reject', 'expired', 'superseded']),
  /** The place of the answer: `device`, `terminal`, `editor`, or `drawbridge` without an answer. More may come. */
  by: z.string().max(REQUEST_LIMITS.maxNameChars),
  scope: Scope.optional(),
  message: z.string().max(TUNNEL_LIMITS.maxTextChars).optional(),
});

/** The set from now on, sent on request and after each change. Null if the bridge no longer offers anything. */
const Offers = z.object({ type: z.literal('offers'), set: OfferSet.nullable() });

/** The bridge's MCP servers, sent after each welcome and after each change. */
const McpServers = z.object({ type: z.literal('mcp_servers'), servers: McpServerReports });

/** Whom the machine lets in from now on, sent after each welcome and after each change. */
const Grants = z.object({ type: z.literal('grants'), names: GrantedNames });

/** The answer to the edge's `processes` with this id. */
const Processes = ProcessReport.extend({
  type: z.literal('processes'),
  askId: AskId,
});

/** The answer to the edge's `enrol` with this id. */
const Enrolled = z.object({
  type: z.literal('enrolled'),
  askId: AskId,
  outcome: EnrolmentOutcome,
});

/** The answer to the edge's `files` with this id. Null where the bridge could not list its files: its log says why. */
const Files = z.object({
  type: z.literal('files'),
  askId: AskId,
  items: FoundFiles.shape.items.nullable(),
});

/** The answer to the edge's `policy` with this id. */
const Policy = z.object({ type: z.literal('policy'), askId: AskId, policy: MachinePolicy });

const Context = z.object({
  type: z.literal('context'),
  lookId: z.string().max(REQUEST_LIMITS.maxNameChars),
  context: MachineContext,
  /** What the look found for its message. */
  findings: Findings.optional(),
});

/** Bridge to tunnel. */
export const BridgeFrame = z.discriminatedUnion('type', [
  Hello,
  HeldCalls,
  Result,
  Output,
  ApprovalRequest,
  ApprovalRefused,
  ApprovalResolved,
  Context,
  Offers,
  GuestCall,
  McpServers,
  Grants,
  Processes,
  Enrolled,
  Files,
  Policy,
]);
export type BridgeFrame = z.infer<typeof BridgeFrame>;

/** Everything still open: calls to run or to answer from the journal, calls to cancel, and new answers of people. */
const Welcome = z.object({
  type: z.literal('welcome'),
  protocol: z.int(),
  calls: z.array(ToolCall),
  cancels: z.array(CallId),
  answers: z.array(ApprovalAnswer),
});

const Call = z.object({ type: z.literal('call'), call: ToolCall });

/** The conversation has stored the result, or does not know the call: the journal may drop it. */
const Ack = z.object({ type: z.literal('ack'), callId: CallId });

const Cancel = z.object({ type: z.literal('cancel'), callId: CallId });

const Approval = z.object({ type: z.literal('approval'), answer: ApprovalAnswer });

/** The tunnel lacks the set with this digest, which hello has named. */
const OffersWanted = z.object({ type: z.literal('offers_wanted'), digest: z.string() });

/** The bridge looks at its workspace and answers with `context`. */
const Look = z.object({
  type: z.literal('look'),
  lookId: z.string().max(REQUEST_LIMITS.maxNameChars),
  /** The message of the run that begins: the bridge answers with `findings` too. */
  message: z.optional(MessageLook),
  /** As in a call. Such a look shows nothing of the owner. */
  grantee: z.optional(Grantee),
});

/** A person asks for the bridge's processes. Only for a bridge with `control_process`. */
const AskProcesses = z.object({ ...ProcessAsk.shape, type: z.literal('processes'), askId: AskId });

/** A device asks to be enrolled. The bridge answers with `enrolled`. */
const Enrol = z.object({ ...EnrolmentRequest.shape, type: z.literal('enrol'), askId: AskId });

/** A person writes a mention. The bridge answers with `files`. */
const AskFiles = z.object({ ...FileQuery.shape, type: z.literal('files'), askId: AskId });

/** The owner looks at what the machine allows. The bridge answers with `policy`. */
const AskPolicy = z.object({ type: z.literal('policy'), askId: AskId });

/** UTF-16 units of output that have arrived: the bridge may send as many again. */
const Credit = z.object({ type: z.literal('credit'), chars: z.int().positive() });

const Goodbye = z.object({ type: z.literal('goodbye'), code: z.string(), message: z.string() });

/** Tunnel to bridge. */
export const TunnelFrame = z.discriminatedUnion('type', [
  Welcome,
  Call,
  Ack,
  Cancel,
  Approval,
  Credit,
  OffersWanted,
  Look,
  AskProcesses,
  Enrol,
  AskFiles,
  AskPolicy,
  Goodbye,
]);
export type TunnelFrame = z.infer<typeof TunnelFrame>;

/** The part of `hello` and `welcome` that every version can read, even if the rest has another form. */
export const Greeting = z.object({ type: z.enum(['hello', 'welcome']), protocol: z.int() });
