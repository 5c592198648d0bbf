import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDevices, verifyApproval } from '../../../bridge/admission/devices.ts';
import type { Grant } from '../../../shared/wire/approval-text.ts';
import type { ApprovalAnswer } from '../../../shared/wire/tunnel.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';
import { newDevice, newQuestion } from './device.ts';

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

describe('the enrolled devices', () => {
  test('are none before there is a file', async () => {
    expect(await readDevices(join(await temporaryFolder(), 'devices.json'))).toEqual([]);
  });

  test('are read from their file', async () => {
    const path = join(await temporaryFolder(), 'devices.json');
    const { key } = await newDevice();
    await writeFile(path, JSON.stringify({ devices: [key] }));
    expect(await readDevices(path)).toEqual([key]);
  });

  test('are not taken for none when their file is damaged', async () => {
    const path = join(await temporaryFolder(), 'devices.json');
    await writeFile(path, '{"devices":[{"deviceId":"x"}]}');
    await expect(readDevices(path)).rejects.toThrow('does not hold device keys');
  });
});
