/**
 * The frames between a bridge and its tunnel object: one union per direction. One JSON text per WebSocket message.
 * Unlike the readers of a stream, both ends refuse frames they do not know: the versions must agree.
 */
import * as z from 'zod';
import { Nonce, Proposal } from './approvals.ts';
import { Metadata } from './documents.ts';
import { BridgeId, CallId, ConversationId, DeviceId } from './ids.ts';
import { REQUEST_LIMITS, TUNNEL_LIMITS } from './limits.ts';
import { Mode } from './modes.ts';
import { OfferSet } from './offer.ts';
import { AllowedPath } from './paths.ts';

/** Raised with every change of this file that an older peer would misread. */
export const TUNNEL_PROTOCOL = 3;

/** WebSocket close codes of the tunnel. After any of these the bridge does not come back by itself. */
export const CLOSE = {
  /** A newer connection of the same bridge took over. */
  replaced: 4001,
  /** The two ends speak different versions; the goodbye before it says which one to update. */
  protocolMismatch: 4002,
  /** A frame was not understood. */
  badFrame: 4003,
} as const;

/** Answered by the runtime itself, without waking the object. */
export const PING = 'ping';
export const PONG = 'pong';

/** What a tool came to, as the bridge reports it. `code` is for programs, `data` is for the model. */
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

/** What the request that led to a call demands of it. It narrows what the bridge allows, and never widens it. */
export const CallLimits = z.object({
  /** The call may only reach these and what is below them; a command cannot be held to that and is refused. */
  allowedPaths: z.array(AllowedPath).min(1).max(REQUEST_LIMITS.maxAllowedPaths).optional(),
  /** A person is asked first, whatever the rules of the machine allow. */
  requireApproval: z.boolean().optional(),
});
export type CallLimits = z.infer<typeof CallLimits>;

/** One tool call on its way to the bridge. The arguments are canonical and already parsed once by the edge. */
export const ToolCall = z.object({
  callId: CallId,
  conversationId: ConversationId,
  tool: z.string(),
  arguments: Metadata,
  mode: Mode,
  limits: CallLimits.optional(),
  /** Digest of the definition that is meant, where the tool is an offer. A bridge with another one refuses the call. */
  definition: z.string().optional(),
  /** Why the edge demands an approval of this one call; `limits.requireApproval` is set then. */
  approvalReason: z.string().max(TUNNEL_LIMITS.maxTextChars).optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

/**
 * A person's answer to the question with this nonce. An approval from a device counts only with a good signature
 * (shared/approvals.ts).
 */
export const ApprovalAnswer = z.object({
  callId: CallId,
  nonce: Nonce,
  decision: z.enum(['once', 'reject']),
  message: z.string().max(REQUEST_LIMITS.maxReasonChars).optional(),
  signature: z.object({ deviceId: DeviceId, value: z.base64url() }).optional(),
});
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>;

/** How commands are confined on the machine. */
export const Confinement = z.object({
  kind: z.enum(['bubblewrap', 'none']),
  /** One sentence: what it does, or why there is none. */
  detail: z.string(),
});
export type Confinement = z.infer<typeof Confinement>;

/** What the prompt says of the machine. Untrusted text: it is escaped and labelled as data. */
export const MachineContext = z.object({
  os: z.string().max(REQUEST_LIMITS.maxNameChars),
  shell: z.string().max(REQUEST_LIMITS.maxNameChars),
  workspacePath: z.string().max(REQUEST_LIMITS.maxMessageChars),
  projectLayout: z.string().max(REQUEST_LIMITS.maxContextChars),
  gitStatus: z.string().max(REQUEST_LIMITS.maxContextChars).optional(),
});
export type MachineContext = z.infer<typeof MachineContext>;

/**
 * A feature of bridges: the bridge answers `look` with `context`, and says nothing of the
 * workspace unasked.
 */
export const LOOK = 'look';

/**
 * What a peer of this version can do beyond it, by name. A name that the other side does not know means nothing to it, so
 * that an addition needs no new version.
 */
const Features = z
  .array(z.string().max(REQUEST_LIMITS.maxNameChars))
  .max(TUNNEL_LIMITS.maxFeatures);

/** The peer knows offers: `offers` in hello, and the frames `offers_wanted` and `offers`. */
export const OFFERS_FEATURE = 'offers';

const Hello = z.object({
  type: z.literal('hello'),
  protocol: z.int(),
  features: Features,
  bridgeId: BridgeId,
  /** New with every start of the bridge process. */
  bootId: z.uuid(),
  tools: z.array(z.string().max(REQUEST_LIMITS.maxNameChars)).max(TUNNEL_LIMITS.maxTools),
  confinement: Confinement,
  context: MachineContext,
  /** Digest of the set that the bridge offers; absent where it offers nothing. */
  offers: z.string().optional(),
  /** Calls the journal still holds. Those the tunnel no longer knows are acked, so that the journal lets them go. */
  calls: z.array(CallId).max(TUNNEL_LIMITS.maxListedCalls),
});

/** More calls that the journal holds, where one hello cannot list them all. */
const HeldCalls = z.object({
  type: z.literal('held_calls'),
  calls: z.array(CallId).max(TUNNEL_LIMITS.maxListedCalls),
});

const Result = z.object({ type: z.literal('result'), callId: CallId, result: ToolResult });

/** Progress only: it may be dropped, the result has the bounded whole. */
const Output = z.object({ type: z.literal('output'), callId: CallId, delta: z.string() });

/** A person is asked about a call. It takes the place of an earlier question about this call that has another nonce. */
const ApprovalRequest = z.object({
  type: z.literal('approval_request'),
  callId: CallId,
  nonce: Nonce,
  proposal: Proposal,
  reason: z.string().max(TUNNEL_LIMITS.maxTextChars),
});

/** An answer to this question did not count. The question stays open, and another answer may come. */
const ApprovalRefused = z.object({
  type: z.literal('approval_refused'),
  callId: CallId,
  /** Of the answer, not of the question that is open. */
  nonce: Nonce,
  message: z.string().max(TUNNEL_LIMITS.maxTextChars),
});

const ApprovalResolved = z.object({
  type: z.literal('approval_resolved'),
  callId: CallId,
  nonce: Nonce,
  /** `superseded`: the question no longer says what would happen. The call is asked about anew, or it needs no answer any more. */
  decision: z.enum(['once', 'reject', 'expired', 'superseded']),
  /** Where it was answered: `device`, `terminal`, or `drawbridge` where nobody did. Later versions may know more places. */
  by: z.string().max(REQUEST_LIMITS.maxNameChars),
  message: z.string().max(TUNNEL_LIMITS.maxTextChars).optional(),
});

/** The set that holds from now on: where it was asked for, and whenever it changes. Null where nothing is offered any more. */
const Offers = z.object({ type: z.literal('offers'), set: OfferSet.nullable() });

const Context = z.object({
  type: z.literal('context'),
  /**
   * Of the look that this answers. A bridge without {@link LOOK} tells the context unasked,
   * whenever it has changed.
   */
  lookId: z.string().max(REQUEST_LIMITS.maxNameChars).optional(),
  context: MachineContext,
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
]);
export type BridgeFrame = z.infer<typeof BridgeFrame>;

/** Everything still open: calls to run or to answer from the journal, calls to end, answers given meanwhile. */
const Welcome = z.object({
  type: z.literal('welcome'),
  protocol: z.int(),
  features: Features,
  calls: z.array(ToolCall),
  cancels: z.array(CallId),
  answers: z.array(ApprovalAnswer),
});

const Call = z.object({ type: z.literal('call'), call: ToolCall });

/** The conversation has stored the result (or knows nothing of the call): the journal may let it go. */
const Ack = z.object({ type: z.literal('ack'), callId: CallId });

const Cancel = z.object({ type: z.literal('cancel'), callId: CallId });

const Approval = z.object({ type: z.literal('approval'), answer: ApprovalAnswer });

/** The set of this digest, which hello has named, is not known here. */
const OffersWanted = z.object({ type: z.literal('offers_wanted'), digest: z.string() });

/** Only to a bridge with {@link LOOK}: it looks at the workspace and answers with `context`. */
const Look = z.object({
  type: z.literal('look'),
  lookId: z.string().max(REQUEST_LIMITS.maxNameChars),
});

/** UTF-16 units of output that arrived and may be sent anew. */
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
  Goodbye,
]);
export type TunnelFrame = z.infer<typeof TunnelFrame>;

/** The part of `hello` and `welcome` that every version can read, also where the rest has another form. */
export const Greeting = z.object({ type: z.enum(['hello', 'welcome']), protocol: z.int() });
