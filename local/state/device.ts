/** Makes this machine a device that may approve calls: its key pair, and its entry in the lists of bridges. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { deviceListIn, readEnrolled } from '../../machine/enrolled-devices.ts';
import { openStateFile, readStateFile } from '../../machine/state-file.ts';
import { DeviceId, newDeviceId } from '../../shared/ids.ts';
import { DEVICE_ALGORITHM } from '../../shared/wire/approval-text.ts';
import { DeviceKey, type EnrolledDevice, EnrolledDevices } from '../../shared/wire/approvals.ts';
import type { ProofSigner } from '../../shared/wire/proof.ts';

/** A device with its private key, a JWK that WebCrypto imports. */
export const MachineDevice = z.object({
  deviceId: DeviceId,
  label: z.string(),
  privateKey: DeviceKey.shape.publicKey.extend({ d: z.base64url() }),
});
export type MachineDevice = z.infer<typeof MachineDevice>;

/** This machine's device: one for each server. */
export async function openDevice(stateDir: string): Promise<MachineDevice> {
  return await openStateFile(join(stateDir, DEVICE_FILE), MachineDevice, newDevice);
}

/**
 * Makes `devices.json`, the list of enrolled devices that the project's bridge reads, with this device. An existing
 * list is never changed here: a device that its owner removes from the list stays out.
 */
export async function enrolDevice(device: MachineDevice, projectDir: string): Promise<void> {
  await openStateFile(deviceListIn(projectDir), EnrolledDevices, () => ({
    devices: [publicHalf(device)],
  }));
}

/**
 * The devices whose approvals count at a project's bridge: those of the machine, which count at every bridge of the
 * server, and those that were enrolled for the project alone.
 * @throws {LocalError} for a damaged list.
 */
export async function listEnrolled(dirs: readonly string[]): Promise<EnrolledDevice[]> {
  const lists = await Promise.all([...new Set(dirs)].map(readEnrolled));
  return lists.flat();
}

/** The device in this state folder; undefined where none was made. @throws {LocalError} for a damaged file. */
export async function readDevice(stateDir: string): Promise<MachineDevice | undefined> {
  return await readStateFile(join(stateDir, DEVICE_FILE), MachineDevice);
}

const DEVICE_FILE = 'device.json';

async function newDevice(): Promise<MachineDevice> {
  const { privateKey } = await crypto.subtle.generateKey(DEVICE_ALGORITHM, true, [
    'sign',
    'verify',
  ]);
  return MachineDevice.parse({
    deviceId: newDeviceId(crypto.randomUUID()),
    label: hostname(),
    privateKey: await crypto.subtle.exportKey('jwk', privateKey),
  });
}

/** The device's key as it signs proofs (shared/wire/proof.ts). */
export async function signerOf({ privateKey: jwk }: MachineDevice): Promise<ProofSigner> {
  const { d: _, ...publicKey } = jwk;
  const privateKey = await crypto.subtle.importKey('jwk', jwk, DEVICE_ALGORITHM, false, ['sign']);
  return { privateKey, publicKey };
}

/** What others may know of a device. */
export function publicHalf({ deviceId, label, privateKey }: MachineDevice): DeviceKey {
  const { d: _, ...publicKey } = privateKey;
  return { deviceId, label, publicKey };
}
