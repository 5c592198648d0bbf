/** Makes this browser a device that may approve at a machine, with the one-use secret that the machine's link brings. */
import { createDevice, type PageClient, readEnrolment } from '../../client/index.ts';
import { keepText } from '../parts/storage.ts';
import { browserName } from './browser-name.ts';
import { type Approver, type KeptDevice, keep, readKept } from './kept.ts';
import { makePasskey } from './passkey.ts';

/**
 * Resolves to the device that may approve from now on. Leaves this browser as it is for a secret that counts no more, and
 * rejects with the server's ClientError, or a PasskeyRefusal; with none for a text that holds no secret.
 */
export async function enrolHere(
  client: PageClient,
  given: string,
  approver: Approver,
  account: string,
): Promise<KeptDevice | undefined> {
  const enrolment = readEnrolment(given);
  if (!enrolment) return undefined;
  const kept = (await readKept(approver)) ?? (await MAKE[approver](account));
  await client.enrolDevice(enrolment, kept.enrolment);
  const bridges = new Set([...kept.bridges, enrolment.bridgeId]);
  const enrolled = { ...kept, bridges: [...bridges] };
  await keep(approver, enrolled);
  // The link comes from this machine's folder: messages are for it.
  keepText('last bridge', enrolment.bridgeId);
  return enrolled;
}

const MAKE: Readonly<Record<Approver, (account: string) => Promise<KeptDevice>>> = {
  async device() {
    const made = { ...(await createDevice(browserName())), bridges: [] };
    await keep('device', made);
    return made;
  },
  async passkey(account) {
    const deviceId = `device_${crypto.randomUUID()}` as const;
    // Beside the one that signs in, and those of the person's other browsers.
    const { publicKey, ...passkey } = await makePasskey(`${account} (approves)`, deviceId);
    const enrolment = { deviceId, label: browserName(), publicKey, passkey };
    const made = { enrolment, bridges: [] };
    await keep('passkey', made);
    return made;
  },
};
