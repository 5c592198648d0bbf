/** Makes this machine a device that may approve calls: its key pair, and its entry in the lists of bridges. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import { takeLock } from '../../machine/lock.ts';
import { replaceFile } from '../../machine/private-files.ts';
import { DeviceId, newDeviceId } from '../../shared/ids.ts';
import { DEVICE_ALGORITHM } from '../../shared/wire/approval-text.ts';
import { DeviceKey, type EnrolledDevice, EnrolledDevices } from '../../shared/wire/approvals.ts';
import { openStateFile, readStateFile } from './state-file.ts';

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
  await openStateFile(join(projectDir, DEVICES_FILE), EnrolledDevices, () => ({
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

async function readEnrolled(dir: string): Promise<readonly EnrolledDevice[]> {
  return (await readStateFile(join(dir, DEVICES_FILE), EnrolledDevices))?.devices ?? [];
}

/** The device in this state folder; undefined where none was made. @throws {LocalError} for a damaged file. */
export async function readDevice(stateDir: string): Promise<MachineDevice | undefined> {
  return await readStateFile(join(stateDir, DEVICE_FILE), MachineDevice);
}

/**
 * Changes the list of devices of a machine or of a project's bridge, one command at a time. The bridge reads the list at
 * each answer, so a change counts at once.
 * @throws {LocalError} if another command changes it, or the list is damaged. `change` may throw as well.
 */
export async function changeDevices(
  dir: string,
  change: (devices: readonly EnrolledDevice[]) => EnrolledDevice[],
): Promise<void> {
  const lock = takeLock(join(dir, 'devices.lock'));
  if (!lock.isTaken) {
    const text =
      'Another command is changing the list of devices: wait for its end, and try again.';
    throw new LocalError('refused', text);
  }
  using _ = lock;
  const devices = change(await readEnrolled(dir));
  replaceFile(join(dir, DEVICES_FILE), JSON.stringify({ devices }));
}

const DEVICE_FILE = 'device.json';
const DEVICES_FILE = 'devices.json';

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

/** What others may know of a device. */
export function publicHalf({ deviceId, label, privateKey }: MachineDevice): DeviceKey {
  const { d: _, ...publicKey } = privateKey;
  return { deviceId, label, publicKey };
}
