/** A device as a browser is one: a key pair that never leaves it, and signatures. */
import { randomUUID } from 'node:crypto';
import type { ApprovalSubject } from '../../../bridge/admission/proposal.ts';
import { newBridgeId, newCallId, newConversationId, newDeviceId } from '../../../shared/ids.ts';
import {
  ALLOW_ONCE,
  approvalText,
  DEVICE_ALGORITHM,
  type Grant,
} from '../../../shared/wire/approval-text.ts';
import {
  type ApprovalQuestion,
  DeviceKey,
  type Proposal,
  Scope,
} from '../../../shared/wire/approvals.ts';
import type { ApprovalAnswer } from '../../../shared/wire/tunnel.ts';

export interface Device {
  readonly key: DeviceKey;
  readonly approve: (question: ApprovalQuestion, grant?: Grant) => Promise<ApprovalAnswer>;
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
    approve: async (question, grant = ALLOW_ONCE) => {
      const text = new TextEncoder().encode(approvalText(question, grant));
      const signature = await crypto.subtle.sign(DEVICE_ALGORITHM, privateKey, text);
      const value = Buffer.from(signature).toString('base64url');
      const { deviceId } = key;
      const { callId, nonce } = question;
      const { content, scope, pattern } = grant;
      const changed = content === undefined ? {} : { content };
      const reach = scope === 'once' ? {} : { scope: Scope.parse(scope), pattern: pattern ?? '' };
      const by = { deviceId, value };
      return { callId, nonce, decision: 'once', ...changed, ...reach, signature: by };
    },
  };
}

/** About a tool and its arguments. */
type AboutCall = { readonly proposal: Extract<Proposal, { kind: 'call' }> };

export function newQuestion(): ApprovalQuestion & AboutCall {
  return { ...newSubject(), bridgeId: BRIDGE_ID, nonce: randomUUID() };
}

export function newCommand(command: string): Extract<Proposal, { kind: 'command' }> {
  return {
    kind: 'command',
    tool: 'run_terminal_cmd',
    command,
    folder: '.',
    permissions: [],
    background: false,
    timeLimitMs: 60_000,
    confinement: 'bubblewrap',
  };
}

export const BRIDGE_ID = newBridgeId(randomUUID());

export function newSubject(): ApprovalSubject & AboutCall {
  return {
    callId: newCallId(randomUUID()),
    conversationId: newConversationId(randomUUID()),
    proposal: {
      kind: 'call',
      tool: 'run_terminal_cmd',
      arguments: { command: 'git push', permissions: ['network', 'git_write'] },
    },
  };
}
