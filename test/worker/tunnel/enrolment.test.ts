import { expect, it } from 'vitest';
import { newEnrolmentRequest } from '../../../client/enrolment.ts';
import { createDevice } from '../../../client/index.ts';
import { call, errorOf } from '../api.ts';
import { openBridge } from './scripted-bridge.ts';

/** A bridge of `ana`, which lets `ben` in. */
async function newBridge() {
  const id = crypto.randomUUID();
  const people = { ana: `ana-${id}`, ben: `ben-${id}`, eve: `eve-${id}` };
  const bridge = await openBridge({ account: people.ana });
  await bridge.greet({ grants: [people.ben] });
  const enrolment = { bridgeId: bridge.bridgeId, secret: 's'.repeat(43) };
  const request = await newEnrolmentRequest(enrolment, (await createDevice('phone')).enrolment);
  const enrol = (by: keyof typeof people, body: unknown = request) =>
    call(`bridges/${bridge.bridgeId}/devices`, { account: people[by], body });
  return { bridge, people, request, enrol };
}

it('takes what a device sends to the bridge as it is, and nothing of anyone but the owner', async () => {
  const { bridge, people, request, enrol } = await newBridge();
  await expect
    .poll(async () => (await call('bridges', { account: people.ben })).text())
    .toContain(bridge.bridgeId);
  for (const other of ['ben', 'eve'] as const) {
    expect(await errorOf(await enrol(other))).toMatchObject({ code: 'NOT_FOUND' });
  }
  expect(bridge.enrolments).toEqual([]);
  expect((await enrol('ana')).status).toBe(204);
  expect(bridge.enrolments).toEqual([request]);
});

it.each([
  ['ended', 'ENROLMENT_ENDED'],
  ['failed', 'UNAVAILABLE'],
] as const)('says that it %s', async (outcome, code) => {
  const { bridge, enrol } = await newBridge();
  bridge.enrols = outcome;
  expect(await errorOf(await enrol('ana'))).toMatchObject({ code });
});

it('says that a bridge is offline', async () => {
  const { bridge, enrol } = await newBridge();
  await bridge.leave();
  const message = expect.stringContaining('offline');
  expect(await errorOf(await enrol('ana'))).toMatchObject({ code: 'UNAVAILABLE', message });
});

it.each([
  ['a name that fills a list', { label: 'x'.repeat(201) }, 'device.label'],
  ['a key that is too long', { publicKey: { x: 'x'.repeat(44) } }, 'device.publicKey.x'],
])('refuses %s', async (_, wrong, field) => {
  const { request, enrol } = await newBridge();
  const publicKey = { ...request.device.publicKey, ...('publicKey' in wrong && wrong.publicKey) };
  const body = { ...request, device: { ...request.device, ...wrong, publicKey } };
  const refused = await errorOf(await enrol('ana', body));
  expect(refused).toMatchObject({ code: 'INVALID_REQUEST' });
  expect(refused.message).toContain(field);
});
