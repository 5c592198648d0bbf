import { describe, expect, it } from 'vitest';
import { type Device, signApproval } from '../../client/device.ts';
import { approvalText, DEVICE_ALGORITHM } from '../../shared/approvals.ts';
import { ApprovalAnswer } from '../../shared/tunnel.ts';
import { CALL_ID } from './sample-tape.ts';

const SUBJECT = { callId: CALL_ID, toolName: 'write', arguments: { path: 'ä.md', contents: '1' } };

describe('an approval signed by a device', () => {
  it('is accepted by the schema of the tunnel', async () => {
    const { device } = await newDevice();
    const signature = await signApproval(device, SUBJECT);
    const answer = { callId: CALL_ID, decision: 'once', signature };
    expect(ApprovalAnswer.parse(answer)).toEqual(answer);
  });

  it.each([
    { name: 'the same call', shown: SUBJECT, valid: true },
    {
      name: 'the same call with its arguments in another order',
      shown: { ...SUBJECT, arguments: { contents: '1', path: 'ä.md' } },
      valid: true,
    },
    { name: 'another call', shown: { ...SUBJECT, callId: `${CALL_ID}3` }, valid: false },
    { name: 'another tool', shown: { ...SUBJECT, toolName: 'delete_file' }, valid: false },
    { name: 'other arguments', shown: { ...SUBJECT, arguments: { path: 'ä.md' } }, valid: false },
  ])('holds for $name: $valid', async ({ shown, valid }) => {
    const { device, publicKey } = await newDevice();
    const { value } = await signApproval(device, SUBJECT);
    const bytes = Buffer.from(value, 'base64url');
    const text = new TextEncoder().encode(approvalText(shown));
    expect(await crypto.subtle.verify(DEVICE_ALGORITHM, publicKey, bytes, text)).toBe(valid);
  });
});

async function newDevice() {
  const pair = await crypto.subtle.generateKey(DEVICE_ALGORITHM, true, ['sign', 'verify']);
  const { x = '', y = '', d = '' } = await crypto.subtle.exportKey('jwk', pair.privateKey);
  const privateJwk = { kty: 'EC', crv: 'P-256', x, y, d } as const;
  const deviceId = 'device_00000000-0000-4000-8000-000000000001';
  const device: Device = { deviceId, privateJwk };
  return { device, publicKey: pair.publicKey };
}
