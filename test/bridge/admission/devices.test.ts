import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { devicesOf, verifyApproval } from '../../../bridge/admission/devices.ts';
import { approvalText, type Grant } from '../../../shared/wire/approval-text.ts';
import type { ApprovalQuestion, DeviceKey } from '../../../shared/wire/approvals.ts';
import type { ApprovalAnswer } from '../../../shared/wire/tunnel.ts';
import { newPasskey } from '../../far-ends/passkey.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';
import { newDevice, newQuestion } from './device.ts';

describe('an approval by a passkey', () => {
  test('counts for exactly the question whose text it has signed', async () => {
    const [{ key, assert }, question] = [await newPasskey(), newQuestion()];
    const { deviceId } = key;
    const answerTo = async (shown: ApprovalQuestion): Promise<ApprovalAnswer> => {
      const { value, ...passkey } = await assert(approvalText(shown));
      const { callId, nonce } = question;
      return { callId, nonce, decision: 'once', signature: { deviceId, value, passkey } };
    };
    expect(await verifyApproval(await answerTo(question), question, [key])).toBe(true);
    const other = await answerTo({ ...question, nonce: 'another' });
    expect(await verifyApproval(other, question, [key])).toBe(false);
    const { signature, ...answer } = await answerTo(question);
    const bare = signature && { deviceId, value: signature.value };
    expect(await verifyApproval({ ...answer, signature: bare }, question, [key])).toBe(false);
  });

  test('does not count for a device whose key is no passkey, and a plain one not for a passkey', async () => {
    const [passkey, device, question] = [await newPasskey(), await newDevice(), newQuestion()];
    const { deviceId, publicKey } = passkey.key;
    const { value, ...assertion } = await passkey.assert(approvalText(question));
    const { callId, nonce } = question;
    const signature = { deviceId, value, passkey: assertion };
    const asserted = { callId, nonce, decision: 'once', signature } as const;
    const plainKey = { deviceId, label: 'Phone', publicKey };
    expect(await verifyApproval(asserted, question, [plainKey])).toBe(false);
    const plain = await device.approve(question);
    const asPasskey = { ...device.key, passkey: passkey.key.passkey };
    expect(await verifyApproval(plain, question, [asPasskey])).toBe(false);
  });
});

describe('an approval', () => {
  test('counts with the signature of an enrolled device', async () => {
    const [device, other, question] = [await newDevice(), await newDevice(), newQuestion()];
    const answer = await device.approve(question);
    expect(await verifyApproval(answer, question, [other.key, device.key])).toBe(true);
  });

  test('counts whatever order the arguments come in', async () => {
    const [device, question] = [await newDevice(), newQuestion()];
    const { proposal } = question;
    const reordered = Object.fromEntries(Object.entries(proposal.arguments).reverse());
    const answer = await device.approve({
      ...question,
      proposal: { ...proposal, arguments: reordered },
    });
    expect(await verifyApproval(answer, question, [device.key])).toBe(true);
  });

  test('does not count for another question, whatever it differs in', async () => {
    const [device, question, another] = [await newDevice(), newQuestion(), newQuestion()];
    const { proposal, bridgeId } = question;
    const { callId, nonce, conversationId } = another;
    const changed = { ...proposal.arguments, command: 'git push --force' };
    const others = [
      { ...question, callId },
      { ...question, nonce },
      { ...question, conversationId },
      { ...question, bridgeId: `${bridgeId}0` },
      { ...question, proposal: { ...proposal, tool: 'write' } },
      { ...question, proposal: { ...proposal, arguments: changed } },
      { ...question, proposal: { ...proposal, arguments: {} } },
    ];
    for (const other of others) {
      const { signature } = await device.approve(other);
      const answer = { ...(await device.approve(question)), signature };
      expect(await verifyApproval(answer, question, [device.key])).toBe(false);
    }
    const answer = await device.approve(question);
    for (const [name, value] of Object.entries({ callId, nonce })) {
      expect(await verifyApproval({ ...answer, [name]: value }, question, [device.key])).toBe(
        false,
      );
    }
  });

  test.each<Grant>([
    { decision: 'allow', scope: 'conversation', pattern: null },
    { decision: 'allow', scope: 'always', pattern: null },
    { decision: 'allow', scope: 'once', pattern: 'git *' },
    { decision: 'reject', scope: 'once', pattern: null },
    { decision: 'allow', scope: 'once', pattern: null, content: '' },
  ])('does not count as an approval for once where %j was signed', async (grant) => {
    const [device, question] = [await newDevice(), newQuestion()];
    const { signature } = await device.approve(question, grant);
    const answer = { ...(await device.approve(question)), signature };
    expect(await verifyApproval(answer, question, [device.key])).toBe(false);
  });

  test('does not count from a device that is not enrolled, nor in the name of one that is', async () => {
    const [device, stranger, question] = [await newDevice(), await newDevice(), newQuestion()];
    const answer = await stranger.approve(question);
    const value = answer.signature?.value ?? '';
    const forged: ApprovalAnswer = {
      ...answer,
      signature: { deviceId: device.key.deviceId, value },
    };
    expect(await verifyApproval(answer, question, [device.key])).toBe(false);
    expect(await verifyApproval(forged, question, [device.key])).toBe(false);
  });

  test('does not count without a signature, or with one that is garbage', async () => {
    const [device, question] = [await newDevice(), newQuestion()];
    const { callId, nonce } = question;
    const { deviceId } = device.key;
    const unsigned: ApprovalAnswer = { callId, nonce, decision: 'once' };
    const garbage = ['', 'AAAA', 'A'.repeat(86)].map(
      (value): ApprovalAnswer => ({ ...unsigned, signature: { deviceId, value } }),
    );
    for (const answer of [unsigned, ...garbage]) {
      expect(await verifyApproval(answer, question, [device.key])).toBe(false);
    }
  });

  test('does not count under a key that is no point of the curve', async () => {
    const [device, question] = [await newDevice(), newQuestion()];
    const answer = await device.approve(question);
    const key = {
      ...device.key,
      publicKey: { ...device.key.publicKey, x: device.key.publicKey.y },
    };
    expect(await verifyApproval(answer, question, [key])).toBe(false);
  });

  test('needs no signature when it is a rejection', async () => {
    const question = newQuestion();
    const { callId, nonce } = question;
    const answer: ApprovalAnswer = { callId, nonce, decision: 'reject' };
    expect(await verifyApproval(answer, question, [])).toBe(true);
  });
});

describe('the devices of a bridge', () => {
  const url = 'http://127.0.0.1:8787';
  const write = (dir: string, devices: readonly DeviceKey[]) =>
    writeFile(join(dir, 'devices.json'), JSON.stringify({ devices }));

  test('are none before there is a list', async () => {
    expect(await devicesOf({ url, stateDir: await temporaryFolder() })).toEqual([]);
  });

  test('are those of its folder, before those of the machine', async () => {
    const [stateDir, machineDir] = [await temporaryFolder(), await temporaryFolder()];
    const [{ key: own }, { key: other }] = [await newDevice(), await newDevice()];
    await write(stateDir, [own]);
    await write(machineDir, [{ ...other, deviceId: own.deviceId }, other]);
    const devices = await devicesOf({ url, stateDir, machineDir });
    expect(devices).toEqual([own, { ...other, deviceId: own.deviceId }, other]);
  });

  test('have a passkey of the page of their own server, and of no other one', async () => {
    const stateDir = await temporaryFolder();
    const [{ key: here }, { key: elsewhere }] = [
      await newPasskey('https://drawbridge.example.com:8443'),
      await newPasskey('https://drawbridge.example.com'),
    ];
    await write(stateDir, [here, elsewhere]);
    const of = (url: string) => devicesOf({ url, stateDir });
    expect(await of('https://drawbridge.example.com:8443/below')).toEqual([here]);
    expect(await of('https://drawbridge.example.com')).toEqual([elsewhere]);
    expect(await of(url)).toEqual([]);
  });

  test('are not taken for none when a list is damaged', async () => {
    const stateDir = await temporaryFolder();
    await writeFile(join(stateDir, 'devices.json'), '{"devices":[{"deviceId":"x"}]}');
    await expect(devicesOf({ url, stateDir })).rejects.toThrow('devices.json');
  });
});
