import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createDevice,
  type Device,
  type Known,
  PROPOSALS,
  signApproval,
} from '../../client/device.ts';
import { approvalText, DEVICE_ALGORITHM } from '../../shared/wire/approval-text.ts';
import { type ApprovalQuestion, DeviceKey, Proposal } from '../../shared/wire/approvals.ts';
import { ApprovalAnswer } from '../../shared/wire/tunnel.ts';
import { CALL_ID, CONVERSATION_ID, QUESTION } from './sample-tape.ts';

const { proposal } = QUESTION;

describe('an approval signed by a device', () => {
  it('is accepted by the schema of the tunnel', async () => {
    const { device } = await newDevice();
    const signature = await signApproval(device, QUESTION);
    const answer = { callId: CALL_ID, nonce: QUESTION.nonce, decision: 'once', signature };
    expect(ApprovalAnswer.parse(answer)).toEqual(answer);
  });

  it.each<{ name: string; shown: ApprovalQuestion; valid: boolean }>([
    { name: 'the same question', shown: QUESTION, valid: true },
    {
      name: 'the same question with its arguments in another order',
      shown: {
        ...QUESTION,
        proposal: { ...proposal, arguments: { contents: '1', path: 'ä.md' } },
      },
      valid: true,
    },
    { name: 'another call', shown: { ...QUESTION, callId: `${CALL_ID}3` }, valid: false },
    { name: 'another nonce', shown: { ...QUESTION, nonce: 'n-2' }, valid: false },
    {
      name: 'another conversation',
      shown: { ...QUESTION, conversationId: `${CONVERSATION_ID}3` },
      valid: false,
    },
    { name: 'another bridge', shown: { ...QUESTION, bridgeId: 'bridge_2' }, valid: false },
    {
      name: 'another tool',
      shown: { ...QUESTION, proposal: { ...proposal, tool: 'delete_file' } },
      valid: false,
    },
    {
      name: 'other arguments',
      shown: { ...QUESTION, proposal: { ...proposal, arguments: { path: 'ä.md' } } },
      valid: false,
    },
  ])('holds for $name: $valid', async ({ shown, valid }) => {
    const { device, publicKey } = await newDevice();
    const { value } = await signApproval(device, QUESTION);
    const bytes = Buffer.from(value, 'base64url');
    const text = new TextEncoder().encode(approvalText(shown));
    expect(await crypto.subtle.verify(DEVICE_ALGORITHM, publicKey, bytes, text)).toBe(valid);
  });

  it.each<{ name: string; later: object }>([
    { name: 'another member', later: { asRoot: true } },
    { name: 'another kind', later: { kind: 'payment' } },
    { name: 'an inherited name as its kind', later: { kind: 'toString' } },
    { name: 'an inherited name as a member', later: { constructor: 'x' } },
    {
      name: 'another member in a member',
      later: { offer: { server: 's', tool: 't', definition: 'd', asRoot: true } },
    },
    { name: 'a member in the place of a text', later: { tool: { name: 'write', asRoot: true } } },
    {
      name: 'another member in a list',
      later: {
        kind: 'elicitation',
        arguments: undefined,
        server: 's',
        message: 'm',
        number: 1,
        fields: [{ name: 'n', type: 'text', required: true, isSecret: true }],
      },
    },
  ])('is not made for a proposal with $name, which no person was shown', async ({ later }) => {
    const { device } = await newDevice();
    const question = { ...QUESTION, proposal: { ...proposal, ...later } } as ApprovalQuestion;
    const refused = { name: 'ClientError', code: 'UNKNOWN_PROPOSAL' };
    await expect(signApproval(device, question)).rejects.toMatchObject(refused);
  });

  it('is made for a form of known fields', async () => {
    const { device } = await newDevice();
    const options = [{ value: 'a', label: 'A' }];
    const form = Proposal.parse({
      kind: 'elicitation',
      tool: 't',
      server: 's',
      message: 'm',
      number: 1,
      fields: [
        { type: 'text', name: 'n', required: true, default: 'x' },
        { type: 'choices', name: 'm', required: false, options, default: ['a'] },
      ],
    });
    expect(await signApproval(device, { ...QUESTION, proposal: form })).toMatchObject({
      deviceId: device.deviceId,
    });
  });

  it('knows all members of all proposals', () => {
    const schemas = Proposal.options.map((kind) => [kind.shape.kind.value, knownOf(kind)]);
    expect(JSON.parse(JSON.stringify(PROPOSALS))).toEqual(Object.fromEntries(schemas));
  });

  it('is over this text', () => {
    expect(approvalText(QUESTION)).toBe(
      `drawbridge-approval-v2\n{"bridgeId":"${QUESTION.bridgeId}","callId":"${CALL_ID}",` +
        `"conversationId":"${CONVERSATION_ID}","decision":"allow","nonce":"n-1","pattern":null,` +
        '"proposal":{"arguments":{"contents":"1","path":"ä.md"},"kind":"call","tool":"write"},"scope":"once"}',
    );
  });
});

/** All members of a schema, at every depth; those of a union's options together. */
function knownOf(schema: unknown): Known {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return knownOf(schema.unwrap());
  if (schema instanceof z.ZodArray) return knownOf(schema.element);
  if (schema instanceof z.ZodUnion) return Object.assign({}, ...schema.options.map(knownOf));
  if (schema instanceof z.ZodRecord) return 'anything';
  if (!(schema instanceof z.ZodObject)) return {};
  return Object.fromEntries(
    Object.entries(schema.shape).map(([name, member]) => [name, knownOf(member)]),
  );
}

describe('a device of a browser', () => {
  it('signs with a key that cannot be exported, and is enrolled by its public half', async () => {
    const { device, enrolment } = await createDevice('Phone');
    expect(DeviceKey.parse(enrolment)).toEqual({ ...enrolment, label: 'Phone' });
    expect(device.privateKey.extractable).toBe(false);
    const { value } = await signApproval(device, QUESTION);
    const key = await crypto.subtle.importKey('jwk', enrolment.publicKey, DEVICE_ALGORITHM, false, [
      'verify',
    ]);
    const text = new TextEncoder().encode(approvalText(QUESTION));
    const bytes = Buffer.from(value, 'base64url');
    expect(await crypto.subtle.verify(DEVICE_ALGORITHM, key, bytes, text)).toBe(true);
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
