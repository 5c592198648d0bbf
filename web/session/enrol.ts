/** Makes this browser a device that may approve at a machine, with the one-use secret that the machine's link brings. */
import { type Client, ClientError, readEnrolment } from '../../client/index.ts';
import { keep } from './kept.ts';
import { approvingDevice } from './session.ts';

/** Does nothing without a secret, and leaves this browser as it is for one that counts no more. */
export async function enrolHere(client: Client, given: string | undefined): Promise<void> {
  const enrolment = readEnrolment(given ?? '');
  if (!enrolment) return;
  const kept = await approvingDevice();
  try {
    await client.enrolDevice(enrolment, kept.enrolment);
    const bridges = new Set([...kept.bridges, enrolment.bridgeId]);
    await keep('device', { ...kept, bridges: [...bridges] });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
  }
}
