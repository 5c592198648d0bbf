/** The lists of devices whose approvals count: one of a whole machine, and one of each project's bridge. */
import { join } from 'node:path';
import { type DeviceKey, type EnrolledDevice, EnrolledDevices } from '../shared/wire/approvals.ts';
import { takeTurn } from './lock.ts';
import { replaceFile } from './private-files.ts';
import { readStateFile } from './state-file.ts';

/** The path of the list in a state folder. */
export function deviceListIn(dir: string): string {
  return join(dir, 'devices.json');
}

/** The list in a state folder; empty without one. @throws {LocalError} for a damaged list. */
export async function readEnrolled(dir: string): Promise<readonly EnrolledDevice[]> {
  return (await readStateFile(deviceListIn(dir), EnrolledDevices))?.devices ?? [];
}

/**
 * Changes the list of devices of a machine or of a project's bridge, one program at a time. The bridge reads the list at
 * each answer, so a change counts at once.
 * @throws {LocalError} if another program keeps changing it, or the list is damaged. `change` may throw as well.
 */
export async function changeDevices(
  dir: string,
  change: (devices: readonly EnrolledDevice[]) => readonly EnrolledDevice[],
): Promise<void> {
  using _ = await takeTurn(join(dir, 'devices.lock'), BUSY);
  const devices = change(await readEnrolled(dir));
  replaceFile(deviceListIn(dir), JSON.stringify({ devices }));
}

const BUSY = 'Another program is changing the list of devices: wait until it ends, and try again.';

export function isSameKey(known: DeviceKey, device: DeviceKey): boolean {
  const [one, other] = [known, device].map(({ publicKey: { x, y }, passkey }) =>
    [x, y, passkey?.credentialId, passkey?.origin].join(),
  );
  return one === other;
}
