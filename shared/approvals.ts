/** What a device signs when it approves a call: the call's id and a hash of what was shown. Same on every side. */
import { z } from 'zod';
import type { Metadata } from './documents.ts';
import { DeviceId } from './ids.ts';

/** What a person allows: exactly this tool with exactly these arguments, once. */
export interface ApprovalSubject {
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: Metadata;
}

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
 * The text that is signed (its UTF-8 bytes). It holds the whole subject in canonical JSON, so the signature's own
 * hash is the content hash: a device signs what it shows, and an edge that shows something else gains nothing.
 */
export function approvalText(subject: ApprovalSubject): string {
  return `drawbridge-approval-v1\n${subject.callId}\n${subject.toolName}\n${canonicalJson(subject.arguments)}`;
}

/** JSON with sorted keys, as RFC 8785 orders them: by UTF-16 units. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
