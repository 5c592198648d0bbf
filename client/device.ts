/** Signs approvals with a device's own key; a bridge trusts the signature of an enrolled device. */
import {
  ALLOW_ONCE,
  type ApprovalQuestion,
  approvalText,
  DEVICE_ALGORITHM,
  type Proposal,
} from '../shared/approvals.ts';
import type { ApprovalRequest } from '../shared/requests.ts';

/** An enrolled device. Its private key never leaves it. */
export interface Device {
  readonly deviceId: string;
  /** A P-256 key as JWK (RFC 7518, section 6.2). */
  readonly privateJwk: {
    readonly kty: 'EC';
    readonly crv: 'P-256';
    readonly x: string;
    readonly y: string;
    readonly d: string;
  };
}

/**
 * Allows the question's proposal once. Pass the question that the person was shown, not a newer one. With `content` the
 * person allows this whole file instead; the answer must hold the same content.
 */
export async function signApproval(
  device: Device,
  question: ApprovalQuestion,
  content?: string,
): Promise<NonNullable<ApprovalRequest['signature']>> {
  const key = await crypto.subtle.importKey('jwk', device.privateJwk, DEVICE_ALGORITHM, false, [
    'sign',
  ]);
  const text = new TextEncoder().encode(approvalText(question, { ...ALLOW_ONCE, content }));
  const signature = await crypto.subtle.sign(DEVICE_ALGORITHM, key, text);
  return { deviceId: device.deviceId, value: encodeBase64Url(new Uint8Array(signature)) };
}

/**
 * Whether `newText` is the file that the proposal would leave, with or without a byte order mark. It comes unsigned: an
 * edge can send another file, for a person to change and sign unread. So check it before you show it to be changed.
 */
export async function isNewText(proposal: Proposal, newText: string): Promise<boolean> {
  if (proposal.kind !== 'edit') return false;
  const forms = [newText, `\uFEFF${newText}`].map(sha256);
  return (await Promise.all(forms)).some((hash) => hash === proposal.afterHash);
}

async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function encodeBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
