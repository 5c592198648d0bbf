/** What a person approves and a device signs: the question as it was shown, with the answer in it. Same on every side. */
import * as z from 'zod';
import { Diff, Metadata } from './documents.ts';
import { BridgeId, CallId, type ConversationId, DeviceId } from './ids.ts';

/** Of a file's bytes, in hexadecimal; null where there is no file. */
const FileHash = z.string().nullable();

/** A change to one file. The hashes tell exactly which bytes give way to which. */
const EditProposal = z.object({
  kind: z.literal('edit'),
  tool: z.string(),
  /** Where the path of the call really leads, relative to the workspace. */
  path: z.string(),
  operation: z.enum(['create', 'edit', 'delete']),
  /** The changed lines, in order. Empty where the file goes, and where it stays as it is. */
  diff: z.array(Diff),
  beforeHash: FileHash,
  afterHash: FileHash,
  /** Only where the diff is too long to be shown whole: so many UTF-16 units of it are left out. */
  cut: z.object({ chars: z.int().positive() }).optional(),
});

const CommandProposal = z.object({
  kind: z.literal('command'),
  tool: z.string(),
  command: z.string(),
  /** Where it runs, relative to the workspace. */
  folder: z.string(),
  /** Sorted by name. */
  permissions: z.array(z.string()),
  background: z.boolean(),
  /** Null where nothing ends it. */
  timeLimitMs: z.int().positive().nullable(),
  /** What holds it; `none` also for a command that is let out of its sandbox. */
  confinement: z.enum(['bubblewrap', 'none']),
});

const CallProposal = z.object({
  kind: z.literal('call'),
  tool: z.string(),
  arguments: Metadata,
  /** Only of a tool that a server of the machine's owner offers: which one, by which definition. */
  offer: z.object({ server: z.string(), tool: z.string(), definition: z.string() }).optional(),
});

/** What will happen if a person allows it, as an object. */
export const Proposal = z.discriminatedUnion('kind', [EditProposal, CommandProposal, CallProposal]);
export type Proposal = z.infer<typeof Proposal>;

/** Random text that the bridge makes for each question: an answer with another nonce answers another question. */
export const Nonce = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

/** A question as a device is shown it. With the id of its conversation it is all that a signature needs. */
export const Asked = z.object({
  callId: CallId,
  bridgeId: BridgeId,
  nonce: Nonce,
  proposal: Proposal,
});
export type Asked = z.infer<typeof Asked>;

/** One question of one bridge. */
export interface ApprovalQuestion extends Asked {
  readonly conversationId: z.infer<typeof ConversationId>;
}

/** How far an approval reaches. The signature covers it, so that an edge cannot make an approval reach farther. */
export interface Grant {
  readonly decision: string;
  readonly scope: string;
  readonly pattern: string | null;
}

/** The only grant that a bridge takes so far. */
export const ALLOW_ONCE: Grant = { decision: 'allow', scope: 'once', pattern: null };

/** ECDSA on P-256 with SHA-256 (WebCrypto): every browser, Node and workerd have it. */
export const DEVICE_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A device's public key as enrolled at a bridge, JWK (RFC 7517) of a P-256 point. */
export const DeviceKey = z.object({
  deviceId: DeviceId,
  label: z.string(),
  publicKey: z.object({
    kty: z.literal('EC'),
    crv: z.literal('P-256'),
    x: z.base64url(),
    y: z.base64url(),
  }),
});
export type DeviceKey = z.infer<typeof DeviceKey>;

/** The file in which a machine keeps the devices whose approvals count there. */
export const EnrolledDevices = z.object({ devices: z.array(DeviceKey) });

/**
 * The text that is signed (its UTF-8 bytes). It holds the proposal itself and no digest of it: a device signs what it
 * shows, and an edge that shows something else gains nothing. The nonce binds it to one question, so it counts once.
 */
export function approvalText(question: ApprovalQuestion, grant: Grant = ALLOW_ONCE): string {
  const { bridgeId, nonce, callId, conversationId, proposal } = question;
  const { decision, scope, pattern } = grant;
  const signed = { bridgeId, nonce, callId, conversationId, decision, scope, pattern, proposal };
  return `drawbridge-approval-v2\n${canonicalJson(signed)}`;
}

/** JSON with sorted keys, as RFC 8785 orders them: by UTF-16 units. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
