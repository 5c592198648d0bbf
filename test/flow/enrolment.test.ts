import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type Client,
  createClient,
  createDevice,
  type Device,
  enter,
  newSessionKey,
  sessionTokens,
} from '../../client/index.ts';
import { openEnrolment } from '../../machine/enrolments.ts';
import { ENROLMENT_LIMITS } from '../../shared/limits.ts';
import { callDrawbridge } from '../cli/called.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse({ rules: [{ tool: 'run_terminal_cmd', pattern: 'touch *', decision: 'ask' }] });

/** What a page does that was opened by an invitation: it has a session, and a device of its own. */
async function newPage() {
  const { url } = at.house.ready;
  const { secret } = await at.house.client.createInvitation();
  const signer = await newSessionKey();
  const session = await enter({ url }, secret, { name: 'page', kind: 'browser' }, signer);
  const client = createClient({ url, token: sessionTokens({ url }, { ...session, signer }) });
  return { client, ...(await createDevice('page')) };
}

/** An open secret of the machine, for its bridge. */
async function newSecret(now = new Date()) {
  const { secret } = await openEnrolment(at.house.state, 'enrol', now);
  return { bridgeId: at.house.ready.bridgeId ?? '', secret };
}

/** The outcome of a device's yes to a command of the agent. */
async function approve(client: Client, device: Device, file: string): Promise<string> {
  const messages = [{ role: 'user' as const, content: 'go' }];
  const call = { name: 'run_terminal_cmd', arguments: { command: `touch ${file}` } };
  at.answerWith([{ calls: [call] }, { text: 'Done.' }]);
  let conversationId = '';
  for await (const { event } of client.streamChat({ messages })) {
    if (event.type === 'response_start') conversationId = event.response.conversationId;
    if (event.type !== 'approval_request') continue;
    const question = { ...event, conversationId };
    const refusal = await client.allowCall(question, device).catch((error: unknown) => error);
    if (refusal) await client.rejectCall(question);
    if (refusal) return Object(refusal).code;
  }
  return existsSync(join(at.house.workspace, file)) ? 'ran' : 'did not run';
}

it('lets a page approve that has a secret of the machine, until the device is revoked', async () => {
  const { client, device, enrolment } = await newPage();
  expect(await approve(client, device, 'before.txt')).toBe('APPROVAL_REFUSED');
  const secret = await newSecret();
  await client.enrolDevice(secret, enrolment);
  await client.enrolDevice(secret, enrolment); // The first answer was lost.
  expect(await approve(client, device, 'made.txt')).toBe('ran');
  const place = ['--workspace', at.house.workspace, '--state', at.house.state];
  expect((await callDrawbridge(['devices', ...place])).stdout).toContain(enrolment.deviceId);
  const line = `${enrolment.deviceId}  enrolled by enrol  page\n`;
  expect((await callDrawbridge(['audit', ...place])).stdout).toContain(line);
  await callDrawbridge(['devices', 'revoke', enrolment.deviceId, ...place]);
  expect(await approve(client, device, 'after.txt')).toBe('APPROVAL_REFUSED');
  await expect(client.enrolDevice(secret, enrolment)).rejects.toMatchObject({
    code: 'ENROLMENT_ENDED',
    status: 410,
  });
});

it('takes one of two devices that come with one secret at once', async () => {
  const [one, two] = [await newPage(), await newPage()];
  const secret = await newSecret();
  const outcomes = await Promise.allSettled(
    [one, two].map(({ client, enrolment }) => client.enrolDevice(secret, enrolment)),
  );
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

it('takes no device by a secret that has expired, or that the machine does not have', async () => {
  const { client, enrolment } = await newPage();
  const old = await newSecret(new Date(Date.now() - ENROLMENT_LIMITS.openMs));
  for (const secret of [old, { ...old, secret: 'x'.repeat(43) }]) {
    await expect(client.enrolDevice(secret, enrolment)).rejects.toMatchObject({
      code: 'ENROLMENT_ENDED',
    });
  }
});
