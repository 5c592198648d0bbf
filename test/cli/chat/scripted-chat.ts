/** A chat against a scripted API, and what the tests of chats share. */
import type { Chat } from '../../../cli/chat/chat.ts';
import type { AccountStream, Device, FollowFrom } from '../../../client/index.ts';
import { createClient } from '../../../client/index.ts';
import { DEVICE_ALGORITHM } from '../../../shared/wire/approval-text.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { BRIDGE_ID, CALL_ID, CONVERSATION_ID, RESPONSE_ID } from '../../client/sample-tape.ts';
import type { ScriptedApi } from '../../client/scripted-api.ts';
import { createTestClock } from '../../client/test-clock.ts';
import type { ScriptedTerminal } from '../scripted-terminal.ts';

/** The requests that answer the sample's approval, and cancel its run. */
export const APPROVE = `POST conversations/${CONVERSATION_ID}/approvals/${CALL_ID}`;
export const CANCEL = `POST chat/completions/${RESPONSE_ID}/cancel`;

/** The bridge asks about the sample's command. */
export const ASKED: Extract<TapeEvent, { type: 'approval_request' }> = {
  type: 'approval_request',
  documentId: 'doc_002',
  callId: CALL_ID,
  bridgeId: BRIDGE_ID,
  nonce: 'n-1',
  proposal: { kind: 'call', tool: 'run_terminal_cmd', arguments: { command: 'npm test' } },
  reason: 'Commands ask.',
};

export function newChat(
  api: ScriptedApi,
  terminal: ScriptedTerminal,
  device: Device | null = null,
): Chat {
  const client = createClient({ url: api.url, token: 'token' }, createTestClock());
  return {
    client: { ...client, followAccount: quietAccount },
    device,
    terminal,
    format: 'text',
    mode: 'ask',
    model: 'demo',
    withReasoning: false,
    images: [],
    conversationId: undefined,
    targetWords: [],
  };
}

/** Nothing changes in the account: the requests of an API's script are those of the chat. */
export async function* quietAccount({ signal }: FollowFrom = {}): AccountStream {
  await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
}

/** Resolves to nothing more to write once the API was asked this. */
export function requested(api: ScriptedApi, line: string): Promise<string> {
  return new Promise((resolve) => {
    api.onRequest = (asked) => {
      if (asked === line) resolve('');
    };
  });
}

export const DEVICE_ID = 'device_00000000-0000-4000-8000-000000000001';

export async function newDevice(): Promise<Device> {
  return (await newKeys()).device;
}

/** A device, and the key that verifies its signatures. */
export async function newKeys() {
  const pair = await crypto.subtle.generateKey(DEVICE_ALGORITHM, true, ['sign', 'verify']);
  const { x = '', y = '', d = '' } = await crypto.subtle.exportKey('jwk', pair.privateKey);
  const privateJwk = { kty: 'EC', crv: 'P-256', x, y, d } as const;
  const device: Device = { deviceId: DEVICE_ID, privateJwk };
  return { device, publicKey: pair.publicKey };
}
