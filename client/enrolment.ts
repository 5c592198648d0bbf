/** Enrols a device by a one-use secret of a bridge's machine. The secret itself is never sent. */

import { encodeBase64Url } from '../shared/text/base64url.ts';
import { enrolmentText } from '../shared/wire/approval-text.ts';
import type { DeviceKey } from '../shared/wire/approvals.ts';
import type { EnrolmentRequest } from '../shared/wire/enrolment.ts';

/** A one-use secret, and the bridge whose machine made it. */
export interface EnrolmentSecret {
  readonly bridgeId: string;
  readonly secret: string;
}

/** One word, also the text of a QR code: `drawbridge-enrol:BRIDGE_ID.SECRET`. */
export function formatEnrolment({ bridgeId, secret }: EnrolmentSecret): string {
  return `drawbridge-enrol:${bridgeId}.${secret}`;
}

/** Reads the text of {@link formatEnrolment}, with or without its scheme. Undefined for anything else. */
export function readEnrolment(text: string): EnrolmentSecret | undefined {
  const [, bridgeId, secret] = WRITTEN.exec(text.trim()) ?? [];
  return bridgeId && secret ? { bridgeId, secret } : undefined;
}

const WRITTEN = /^(?:drawbridge-enrol:)?(bridge_[\w-]+)\.([\w-]{43})$/;

/** The request that enrols the device. Its MAC holds for this bridge and exactly this key. */
export async function newEnrolmentRequest(
  { bridgeId, secret }: EnrolmentSecret,
  device: DeviceKey,
): Promise<EnrolmentRequest> {
  const encoder = new TextEncoder();
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), hmac, false, ['sign']);
  const text = encoder.encode(enrolmentText({ bridgeId, device }));
  const mac = await crypto.subtle.sign('HMAC', key, text);
  return { device, mac: encodeBase64Url(new Uint8Array(mac)) };
}
