/** Makes this browser a device that may approve at a machine, with the one-use secret that the machine's link brings. */
import { type Client, readEnrolment } from '../../client/index.ts';
import { type KeptDevice, keep } from './kept.ts';
import { approvingDevice } from './session.ts';

/**
 * Resolves to the device that may approve from now on. Leaves this browser as it is for a secret that counts no more, and
 * rejects with the server's ClientError; with none for a text that holds no secret.
 */
export async function enrolHere(client: Client, given: string): Promise<KeptDevice | undefined> {
  const enrolment = readEnrolment(given);
  if (!enrolment) return undefined;
  const kept = await approvingDevice();
  await client.enrolDevice(enrolment, kept.enrolment);
  const bridges = new Set([...kept.bridges, enrolment.bridgeId]);
  const enrolled = { ...kept, bridges: [...bridges] };
  await keep('device', enrolled);
  return enrolled;
}
