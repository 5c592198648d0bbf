/** Makes this machine a device that may approve calls: its key pair, and its entry in the lists of bridges. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { DEVICE_ALGORITHM, DeviceKey, EnrolledDevices } from '../../shared/approvals.ts';
import { DeviceId, newDeviceId } from '../../shared/ids.ts';
import { openStateFile } from './state-file.ts';

/** A device with its private key, a JWK that WebCrypto imports. */
export const Device = z.object({
  deviceId: DeviceId,
  label: z.string(),
  privateKey: DeviceKey.shape.publicKey.extend({ d: z.base64url() }),
});
export type Device = z.infer<typeof Device>;

/** This machine's device: one for each server. */
export async function openDevice(stateDir: string): Promise<Device> {
  return await openStateFile(join(stateDir, 'device.json'), Device, newDevice);
}

/**
 * Makes `devices.json`, the list of enrolled devices that the project's bridge reads, with this device. An existing
 * list is never changed here: a device that its owner removes from the list stays out.
 */
export async function enrolDevice(device: Device, projectDir: string): Promise<void> {
  await openStateFile(join(projectDir, 'devices.json'), EnrolledDevices, () => ({
    devices: [publicHalf(device)],
  }));
}

async function newDevice(): Promise<Device> {
  const { privateKey } = await crypto.subtle.generateKey(DEVICE_ALGORITHM, true, [
    'sign',
    'verify',
  ]);
  return Device.parse({
    deviceId: newDeviceId(crypto.randomUUID()),
    label: hostname(),
    privateKey: await crypto.subtle.exportKey('jwk', privateKey),
  });
}

function publicHalf({ deviceId, label, privateKey }: Device): DeviceKey {
  const { d: _, ...publicKey } = privateKey;
  return { deviceId, label, publicKey };
}
