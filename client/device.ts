/** A device's own key: what it signs, a bridge believes. */
import { type ApprovalSubject, approvalText, DEVICE_ALGORITHM } from '../shared/approvals.ts';
import type { ApprovalRequest } from '../shared/requests.ts';

/** An enrolled device. The private half never leaves it. */
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

/** Signs exactly this call with exactly these arguments, as `approvalText` writes them down. */
export async function signApproval(
  device: Device,
  subject: ApprovalSubject,
): Promise<NonNullable<ApprovalRequest['signature']>> {
  const key = await crypto.subtle.importKey('jwk', device.privateJwk, DEVICE_ALGORITHM, false, [
    'sign',
  ]);
  const text = new TextEncoder().encode(approvalText(subject));
  const signature = await crypto.subtle.sign(DEVICE_ALGORITHM, key, text);
  return { deviceId: device.deviceId, value: encodeBase64Url(new Uint8Array(signature)) };
}

function encodeBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
