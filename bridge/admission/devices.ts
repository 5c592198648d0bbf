/** The devices whose approvals count here: their public keys, enrolled at this machine. */
import * as z from 'zod';
import { readEnrolled } from '../../machine/enrolled-devices.ts';
import { readIfThere, replaceFile } from '../../machine/private-files.ts';
import { approvalText, DEVICE_ALGORITHM, grantOf } from '../../shared/wire/approval-text.ts';
import type {
  ApprovalQuestion,
  DeviceKey,
  EnrolledDevice,
  Signature,
} from '../../shared/wire/approvals.ts';
import { isSignedByPasskey } from '../../shared/wire/assertion.ts';
import type { ApprovalAnswer } from '../../shared/wire/tunnel.ts';

/**
 * Whether an answer counts. An approval needs an enrolled device's signature over exactly this question. A rejection
 * needs none, because anyone who can reach the bridge can also let the approval expire. Never throws, whatever the
 * answer or a key contains.
 */
export async function verifyApproval(
  answer: ApprovalAnswer,
  question: ApprovalQuestion,
  devices: readonly DeviceKey[],
): Promise<boolean> {
  if (answer.callId !== question.callId || answer.nonce !== question.nonce) return false;
  if (answer.decision === 'reject') return true;
  if (answer.signature === undefined) return false;
  return await isSigned(approvalText(question, grantOf(answer)), answer.signature, devices);
}

/** Whether one of the devices has signed exactly this text. Never throws. */
export async function isSigned(
  text: string,
  { deviceId, value, passkey }: Signature,
  devices: readonly DeviceKey[],
): Promise<boolean> {
  const device = devices.find((each) => each.deviceId === deviceId);
  if (!device) return false;
  if (!device.passkey) return await isSignedBy(device, value, text);
  const key = { publicKey: device.publicKey, origin: device.passkey.origin };
  return passkey !== undefined && (await isSignedByPasskey(text, key, { value, ...passkey }));
}

/** Where a bridge finds its devices, and the server that it is connected to. */
interface DevicePlace {
  readonly url: string;
  readonly stateDir: string;
  /** Holds the devices of the whole machine. Default: `stateDir`. */
  readonly machineDir?: string;
}

/**
 * The devices that count at a bridge. Those of its own folder come first: a page chooses the id of the device that it
 * enrols, and must not take the place of this machine's. A passkey counts only where its page's server is the bridge's.
 * Rejects for a damaged list, which must not pass for an empty one.
 */
export async function devicesOf({
  url,
  stateDir,
  machineDir = stateDir,
}: DevicePlace): Promise<readonly EnrolledDevice[]> {
  const dirs = [...new Set([stateDir, machineDir])];
  const devices = (await Promise.all(dirs.map(readEnrolled))).flat();
  const { origin } = new URL(url);
  return devices.filter(({ passkey }) => passkey === undefined || passkey.origin === origin);
}

/** When an approval of each device last counted, by device. */
type DeviceUses = Readonly<Record<string, string>>;

/** The file of {@link DeviceUses}; empty without it, or if it is damaged: it only informs the owner. */
export async function readDeviceUses(path: string): Promise<DeviceUses> {
  const text = await readIfThere(path).catch(() => undefined);
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(text ?? '{}'));
  } catch {
    return {};
  }
}

/** Notes that an approval of this device counted. Never rejects: on a full disk the note is lost. */
export async function noteDeviceUse(path: string, deviceId: string, now: Date): Promise<void> {
  try {
    const uses = { ...(await readDeviceUses(path)), [deviceId]: now.toISOString() };
    replaceFile(path, JSON.stringify(uses));
  } catch {
    // The approval itself does not depend on it.
  }
}

async function isSignedBy(device: DeviceKey, signature: string, text: string): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey('jwk', device.publicKey, DEVICE_ALGORITHM, false, [
      'verify',
    ]);
    return await crypto.subtle.verify(
      DEVICE_ALGORITHM,
      key,
      Buffer.from(signature, 'base64url'),
      new TextEncoder().encode(text),
    );
  } catch {
    // The key is not a point on the curve, so it has signed nothing.
    return false;
  }
}
