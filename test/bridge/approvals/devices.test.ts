import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDevices, verifyApproval } from '../../../bridge/approvals/devices.ts';
import type { ApprovalAnswer } from '../../../shared/tunnel.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';
import { newDevice, newSubject } from './device.ts';

describe('an approval', () => {
  test('counts with the signature of an enrolled device', async () => {
    const [device, other, subject] = [await newDevice(), await newDevice(), newSubject()];
    const answer = await device.approve(subject);
    expect(await verifyApproval(answer, subject, [other.key, device.key])).toBe(true);
  });

  test('counts whatever order the arguments come in', async () => {
    const [device, subject] = [await newDevice(), newSubject()];
    const reordered = Object.fromEntries(Object.entries(subject.arguments).reverse());
    const answer = await device.approve({ ...subject, arguments: reordered });
    expect(await verifyApproval(answer, subject, [device.key])).toBe(true);
  });

  test('does not count for another call, tool or argument', async () => {
    const [device, subject] = [await newDevice(), newSubject()];
    const others = [
      { ...subject, callId: newSubject().callId },
      { ...subject, toolName: 'write' },
      { ...subject, arguments: { ...subject.arguments, command: 'git push --force' } },
      { ...subject, arguments: {} },
    ];
    for (const other of others) {
      const answer = { ...(await device.approve(other)), callId: subject.callId };
      expect(await verifyApproval(answer, subject, [device.key])).toBe(false);
    }
    const answer = await device.approve(subject);
    expect(
      await verifyApproval({ ...answer, callId: newSubject().callId }, subject, [device.key]),
    ).toBe(false);
  });

  test('does not count from a device that is not enrolled, nor in the name of one that is', async () => {
    const [device, stranger, subject] = [await newDevice(), await newDevice(), newSubject()];
    const answer = await stranger.approve(subject);
    const value = answer.signature?.value ?? '';
    const forged: ApprovalAnswer = {
      ...answer,
      signature: { deviceId: device.key.deviceId, value },
    };
    expect(await verifyApproval(answer, subject, [device.key])).toBe(false);
    expect(await verifyApproval(forged, subject, [device.key])).toBe(false);
  });

  test('does not count without a signature, or with one that is garbage', async () => {
    const [device, subject] = [await newDevice(), newSubject()];
    const { callId } = subject;
    const { deviceId } = device.key;
    const unsigned: ApprovalAnswer = { callId, decision: 'once' };
    const garbage = ['', 'AAAA', 'A'.repeat(86)].map(
      (value): ApprovalAnswer => ({ ...unsigned, signature: { deviceId, value } }),
    );
    for (const answer of [unsigned, ...garbage]) {
      expect(await verifyApproval(answer, subject, [device.key])).toBe(false);
    }
  });

  test('does not count under a key that is no point of the curve', async () => {
    const [device, subject] = [await newDevice(), newSubject()];
    const answer = await device.approve(subject);
    const key = {
      ...device.key,
      publicKey: { ...device.key.publicKey, x: device.key.publicKey.y },
    };
    expect(await verifyApproval(answer, subject, [key])).toBe(false);
  });

  test('needs no signature when it is a rejection', async () => {
    const subject = newSubject();
    const answer: ApprovalAnswer = { callId: subject.callId, decision: 'reject' };
    expect(await verifyApproval(answer, subject, [])).toBe(true);
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
