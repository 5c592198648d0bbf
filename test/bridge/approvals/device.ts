/** A device as a browser is one: a key pair that never leaves it, and signatures. */
import { randomUUID } from 'node:crypto';
import {
  type ApprovalSubject,
  approvalText,
  DEVICE_ALGORITHM,
  DeviceKey,
} from '../../../shared/approvals.ts';
import { newCallId, newDeviceId } from '../../../shared/ids.ts';
import type { ApprovalAnswer } from '../../../shared/tunnel.ts';

export interface Device {
  readonly key: DeviceKey;
  readonly approve: (subject: ApprovalSubject) => Promise<ApprovalAnswer>;
}

export async function newDevice(): Promise<Device> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(DEVICE_ALGORITHM, true, [
    'sign',
    'verify',
  ]);
  const key = DeviceKey.parse({
    deviceId: newDeviceId(randomUUID()),
    label: 'phone',
    publicKey: await crypto.subtle.exportKey('jwk', publicKey),
  });
  return {
    key,
    approve: async (subject) => {
      const text = new TextEncoder().encode(approvalText(subject));
      const signature = await crypto.subtle.sign(DEVICE_ALGORITHM, privateKey, text);
      const value = Buffer.from(signature).toString('base64url');
      const { deviceId } = key;
      return { callId: subject.callId, decision: 'once', signature: { deviceId, value } };
    },
  };
}

export function newSubject(): ApprovalSubject {
  return {
    callId: newCallId(randomUUID()),
    toolName: 'run_terminal_cmd',
    arguments: { command: 'git push', permissions: ['network', 'git_write'] },
  };
}
