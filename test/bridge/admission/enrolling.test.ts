import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Enrolling } from '../../../bridge/admission/enrolling.ts';
import { Audit, readAudit } from '../../../bridge/grantees/audit.ts';
import { newEnrolmentRequest } from '../../../client/enrolment.ts';
import { createDevice } from '../../../client/index.ts';
import { changeDevices, readEnrolled } from '../../../machine/enrolled-devices.ts';
import { isEnrolmentOpen, openEnrolment } from '../../../machine/enrolments.ts';
import { newBridgeId } from '../../../shared/ids.ts';
import { ENROLMENT_LIMITS } from '../../../shared/limits.ts';
import type { DeviceKey } from '../../../shared/wire/approvals.ts';
import type { EnrolmentRequest } from '../../../shared/wire/enrolment.ts';
import { newPasskey, PASSKEY_ORIGIN } from '../../far-ends/passkey.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';

async function newMachine() {
  const dir = temporaryFolder();
  const bridgeId = newBridgeId(crypto.randomUUID());
  const enrolling = new Enrolling({ bridgeId, machineDir: dir, audit: new Audit(dir) });
  const newSecret = async (now = new Date()) => (await openEnrolment(dir, 'enrol', now)).secret;
  const requestOf = async (secret: string, label = 'phone', bridge = bridgeId) =>
    newEnrolmentRequest({ bridgeId: bridge, secret }, (await createDevice(label)).enrolment);
  return {
    dir,
    bridgeId,
    newSecret,
    requestOf,
    enrol: (request: EnrolmentRequest) => enrolling.enrol(request),
    names: async () => (await readEnrolled(dir)).map(({ label }) => label),
    isOpen: (secret: string) => isEnrolmentOpen(dir, secret, new Date()),
  };
}

it('enrols the device that has an open secret, and records it', async () => {
  const { dir, newSecret, requestOf, enrol, isOpen } = await newMachine();
  const [secret, other] = [await newSecret(), await newSecret()];
  const request = await requestOf(secret);
  expect(await enrol(request)).toBe('enrolled');
  const enrolledAt = expect.stringMatching(/^\d{4}-/);
  expect(await readEnrolled(dir)).toEqual([{ ...request.device, enrolledAt }]);
  expect([await isOpen(secret), await isOpen(other)]).toEqual([false, true]);
  const { deviceId, label } = request.device;
  expect(await readAudit(dir)).toMatchObject([
    { type: 'enrolment', device: deviceId, label, by: 'enrol' },
  ]);
  expect(statSync(join(dir, 'enrolments.json')).mode & 0o777).toBe(0o600);
});

it('answers the same device again as before, and no other one', async () => {
  const { newSecret, requestOf, enrol, names } = await newMachine();
  const secret = await newSecret();
  const request = await requestOf(secret);
  expect([await enrol(request), await enrol(request)]).toEqual(['enrolled', 'enrolled']);
  expect(await enrol(await requestOf(secret, 'thief'))).toBe('ended');
  expect(await names()).toEqual(['phone']);
});

it('enrols one of two devices that come at once, and both requests of one device succeed', async () => {
  const { newSecret, requestOf, enrol, names } = await newMachine();
  const secret = await newSecret();
  const [one, two] = [await requestOf(secret, 'one'), await requestOf(secret, 'two')];
  const outcomes = await Promise.all([enrol(one), enrol(two), enrol(one)]);
  expect(outcomes).toEqual(['enrolled', 'ended', 'enrolled']);
  expect(await names()).toEqual(['one']);
});

it('does not take a recorded request again for a device that was revoked', async () => {
  const { dir, newSecret, requestOf, enrol, names } = await newMachine();
  const request = await requestOf(await newSecret());
  await enrol(request);
  await changeDevices(dir, () => []);
  expect(await enrol(request)).toBe('ended');
  expect(await names()).toEqual([]);
});

type Forge = (request: EnrolmentRequest) => EnrolmentRequest;

const FORGED: readonly [string, Forge][] = [
  ['another MAC', ({ device }) => ({ device, mac: 'x'.repeat(43) })],
  ['a MAC that is cut', ({ device, mac }) => ({ device, mac: mac.slice(0, 20) })],
  ['another name', ({ device, mac }) => ({ device: { ...device, label: 'phonе' }, mac })],
  [
    'another id',
    ({ device, mac }) => ({
      device: { ...device, deviceId: `device_${crypto.randomUUID()}` },
      mac,
    }),
  ],
  [
    'another key',
    ({ device: { publicKey, ...device }, mac }) => ({
      device: { ...device, publicKey: { ...publicKey, x: publicKey.y } },
      mac,
    }),
  ],
];

it.each(FORGED)('refuses %s, and leaves the secret to its device', async (_, forge) => {
  const { newSecret, requestOf, enrol, names } = await newMachine();
  const request = await requestOf(await newSecret());
  expect(await enrol(forge(request))).toBe('ended');
  expect(await names()).toEqual([]);
  expect(await enrol(request)).toBe('enrolled');
});

it('refuses a secret that has expired, one of another machine, and a MAC for another bridge', async () => {
  const { newSecret, requestOf, enrol, names, isOpen } = await newMachine();
  const old = await newSecret(new Date(Date.now() - ENROLMENT_LIMITS.openMs));
  expect(await isOpen(old)).toBe(false);
  const foreign = await (await newMachine()).newSecret();
  const other = newBridgeId(crypto.randomUUID());
  const requests = [
    await requestOf(old),
    await requestOf(foreign),
    await requestOf(await newSecret(), 'phone', other),
  ];
  expect(await Promise.all(requests.map(enrol))).toEqual(['ended', 'ended', 'ended']);
  expect(await names()).toEqual([]);
});

it('gives no second key to the id of an enrolled device', async () => {
  const { bridgeId, newSecret, requestOf, enrol, names } = await newMachine();
  const known = await requestOf(await newSecret());
  await enrol(known);
  const secret = await newSecret();
  const { device } = await requestOf(secret, 'other');
  const again = await newEnrolmentRequest(
    { bridgeId, secret },
    { ...device, deviceId: known.device.deviceId },
  );
  expect(await enrol(again)).toBe('ended');
  expect(await names()).toEqual(['phone']);
});

it('forgets expired secrets with the next one, and never writes for a forged request', async () => {
  const { dir, newSecret, requestOf, enrol } = await newMachine();
  await newSecret(new Date(Date.now() - ENROLMENT_LIMITS.openMs));
  await newSecret();
  const read = () =>
    ['enrolments.json', 'enrolments.lock'].map((name) => readFileSync(join(dir, name), 'utf8'));
  const before = read();
  expect(JSON.parse(before[0] ?? '').open).toHaveLength(1);
  await enrol(await requestOf('x'.repeat(43)));
  expect(read()).toEqual(before);
});

it('reports a damaged file as a failure, and leaves it as it is', async () => {
  const { dir, newSecret, requestOf, enrol } = await newMachine();
  const request = await requestOf(await newSecret());
  writeFileSync(join(dir, 'devices.json'), 'broken');
  expect(await enrol(request)).toBe('failed');
  expect(readFileSync(join(dir, 'devices.json'), 'utf8')).toBe('broken');
});

it('enrols a passkey of the page that a secret is for, and nothing else, and no passkey without one', async () => {
  const { dir, bridgeId, newSecret, requestOf, enrol, names } = await newMachine();
  const made = await openEnrolment(dir, 'open', new Date(), PASSKEY_ORIGIN);
  const of = async (secret: string, key: DeviceKey) =>
    newEnrolmentRequest({ bridgeId, secret }, key);
  const [here, elsewhere] = [await newPasskey(), await newPasskey('https://evil.example.com')];
  const plain = await newSecret();
  expect(await enrol(await requestOf(made.secret))).toBe('ended');
  expect(await enrol(await of(made.secret, elsewhere.key))).toBe('ended');
  expect(await enrol(await of(plain, here.key))).toBe('ended');
  // The edge takes the passkey away, and leaves a key that would sign for everybody.
  const request = await of(made.secret, here.key);
  const { passkey: _, ...bare } = request.device;
  expect(await enrol({ ...request, device: bare })).toBe('ended');
  expect(await enrol(request)).toBe('enrolled');
  expect(await names()).toEqual(['Phone']);
  expect(await readEnrolled(dir)).toMatchObject([{ passkey: here.key.passkey }]);
});
