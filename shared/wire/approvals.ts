/** What a person approves: the question as shown. All sides share this; shared/wire/approval-text.ts has what a device signs. */
import * as z from 'zod';
import { BridgeId, CallId, ConversationId, DeviceId, DocumentId, ResponseId } from '../ids.ts';
import { COMMAND_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { Diff, Metadata, Question } from './documents.ts';
import { Form } from './elicitation.ts';
import { Assertion, PasskeyPlace } from './passkey.ts';

/** The SHA-256 of a file's bytes in hexadecimal; null without a file. */
const FileHash = z.string().nullable();

/** A change to one file. The hashes name the exact bytes before and after it. */
const EditProposal = z.object({
  kind: z.literal('edit'),
  tool: z.string(),
  /** The real path behind the call's path, relative to the workspace. */
  path: z.string(),
  operation: z.enum(['create', 'edit', 'delete']),
  /** The changed lines, in order. Empty if the file is deleted or stays the same. */
  diff: z.array(Diff),
  beforeHash: FileHash,
  afterHash: FileHash,
  /** Only for a diff that is too long to show: the number of UTF-16 units left out. */
  cut: z.object({ chars: z.int().positive() }).optional(),
});

const CommandProposal = z.object({
  kind: z.literal('command'),
  tool: z.string(),
  command: z.string(),
  /** The command's folder, relative to the workspace. */
  folder: z.string(),
  /** Sorted by name. */
  permissions: z.array(z.string()),
  background: z.boolean(),
  /** Null without a time limit. */
  timeLimitMs: z.int().positive().nullable(),
  /** The sandbox of the command. `none` also for a command that may leave the sandbox. */
  confinement: z.enum(['bubblewrap', 'sandbox-runtime', 'none']),
});

const CallProposal = z.object({
  kind: z.literal('call'),
  tool: z.string(),
  arguments: Metadata,
  /** Only for an offered tool: its server, its name there, and the digest of its definition. */
  offer: z.object({ server: z.string(), tool: z.string(), definition: z.string() }).optional(),
});

/** A question of an MCP server during a call. The answer's `content` is a flat JSON object (elicitation.ts). */
const ElicitationProposal = z.object({
  kind: z.literal('elicitation'),
  tool: z.string(),
  server: z.string(),
  /** In the server's words. */
  message: z.string(),
  fields: Form,
  /** Counts the questions of this call from 1: an answer to one is no answer to the same question asked again. */
  number: z.int().positive(),
});

/** What will happen if a person allows the call. */
export const Proposal = z.discriminatedUnion('kind', [
  EditProposal,
  CommandProposal,
  CallProposal,
  ElicitationProposal,
]);
named.add(Proposal, { id: 'Proposal' });
export type Proposal = z.infer<typeof Proposal>;

/** How far a yes reaches, if farther than its call: to this conversation, or to all from now on. */
export const Scope = z.enum(['conversation', 'always']);
export type Scope = z.infer<typeof Scope>;

/** The patterns of a yes that lasts, one on each line. A person may change them. */
export const Patterns = z.string().min(1).max(COMMAND_LIMITS.maxAnswerPatternChars);

/** What a question offers beyond a yes for its call. It is not signed: what counts is what the device sends. */
export const Lasting = z.object({
  /** They match only what the proposal shows. */
  pattern: Patterns,
  /** Whether a device may answer `always` here. The machine of the bridge always may. */
  always: z.boolean(),
});
export type Lasting = z.infer<typeof Lasting>;

/** Random text that the bridge makes for each question. An answer with another nonce belongs to another question. */
export const Nonce = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
named.add(Nonce, { id: 'Nonce' });

/** A question as a device shows it. A signature needs only this and the id of the conversation. */
export const Asked = z.object({
  callId: CallId,
  bridgeId: BridgeId,
  nonce: Nonce,
  proposal: Proposal,
});
export type Asked = z.infer<typeof Asked>;

/** One question of one bridge. */
export interface ApprovalQuestion extends Asked {
  readonly conversationId: string;
}

/** A device's public key: a JWK (RFC 7517) of a P-256 point. With `passkey` it is in an authenticator. */
export const DeviceKey = z.object({
  deviceId: DeviceId,
  label: z.string(),
  publicKey: z.object({
    kty: z.literal('EC'),
    crv: z.literal('P-256'),
    x: z.base64url(),
    y: z.base64url(),
  }),
  passkey: PasskeyPlace.optional(),
});
export type DeviceKey = z.infer<typeof DeviceKey>;

/** A device's signature (ECDSA, two numbers of 32 bytes); with `passkey` that of a passkey, over what it has. */
export const Signature = z.object({
  deviceId: DeviceId,
  value: z.base64url(),
  passkey: Assertion.optional(),
});
named.add(Signature, { id: 'Signature' });
export type Signature = z.infer<typeof Signature>;

/** A device in a bridge's list. The machine that the bridge runs on has no `enrolledAt`: it comes with the list. */
export const EnrolledDevice = z.object({
  ...DeviceKey.shape,
  enrolledAt: z.iso.datetime().optional(),
});
export type EnrolledDevice = z.infer<typeof EnrolledDevice>;

/** The file that lists the devices whose approvals count on a machine. */
export const EnrolledDevices = z.object({ devices: z.array(EnrolledDevice) });

/** A call that waits for a person, with everything that a device shows and signs. */
export const OpenApproval = Asked.extend({
  conversationId: ConversationId,
  /** The conversation's title. */
  title: z.string(),
  responseId: ResponseId,
  documentId: DocumentId,
  /** Why the bridge asks, in one sentence. */
  reason: z.string(),
  newText: z.string().optional(),
  lasting: Lasting.optional(),
});
named.add(OpenApproval, { id: 'OpenApproval' });
export type OpenApproval = z.infer<typeof OpenApproval>;

/** The questions of a `clarification` that waits for a person. A subagent's are answered at its own conversation. */
export const OpenQuestions = z.object({
  conversationId: ConversationId,
  /** The conversation's title. */
  title: z.string(),
  responseId: ResponseId,
  documentId: DocumentId,
  questions: z.array(Question),
});
export type OpenQuestions = z.infer<typeof OpenQuestions>;
