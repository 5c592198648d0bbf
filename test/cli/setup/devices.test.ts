import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { fingerprintOf, formatDeviceKey } from '../../../client/index.ts';
import { openServerState, openState } from '../../../local/state/state.ts';
import { changeDevices } from '../../../machine/enrolled-devices.ts';
import { newDeviceId } from '../../../shared/ids.ts';
import { DEVICE_ALGORITHM } from '../../../shared/wire/approval-text.ts';
import { DeviceKey } from '../../../shared/wire/approvals.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { DRAWBRIDGE } from '../bundle.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace, type Place } from '../drawbridge.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../pseudo-terminal.ts';

const oneLine = (text: string) => expect.stringMatching(new RegExp(`^drawbridge: .*${text}.*\n$`));
const placeOf = ({ workspaceDir, stateDir }: Place) => [
  ...['--workspace', workspaceDir, '--state', stateDir],
];
const devices = (place: Place, ...args: readonly string[]) =>
  callDrawbridge(['devices', ...args, ...placeOf(place)]);

async function newKey(label = 'phone'): Promise<DeviceKey> {
  const pair = await crypto.subtle.generateKey(DEVICE_ALGORITHM, true, ['sign', 'verify']);
  const publicKey = await crypto.subtle.exportKey('jwk', pair.publicKey);
  return DeviceKey.parse({ deviceId: newDeviceId(crypto.randomUUID()), label, publicKey });
}

function openEnrol(place: Place, key: string) {
  return openPseudoTerminal([
    process.execPath,
    DRAWBRIDGE,
    'devices',
    'enrol',
    key,
    ...placeOf(place),
  ]);
}

function listOf({ stateDir }: Place): DeviceKey[] {
  return JSON.parse(readFileSync(join(stateDir, 'devices.json'), 'utf8')).devices;
}

test('the list names this machine, and what it shows of itself can be read back', async () => {
  const place = newPlace();
  await openState(place);
  const shown = await devices(place, 'show');
  const [own] = listOf(place);
  if (!own) throw new Error('no device was made');
  expect(shown.stdout).toBe(`${formatDeviceKey(own)}\n`);
  const fingerprint = await fingerprintOf(own);
  expect(shown.stderr).toContain(`Fingerprint  ${fingerprint}\n`);
  const { stdout } = await devices(place);
  expect(stdout).toContain(`${own.deviceId}\t${fingerprint}\twith the folder\tnever\t`);
  expect(stdout).toContain(`\t${own.label} (this machine)\n`);
  expect(JSON.parse((await devices(place, 'list', '--json')).stdout)).toEqual({
    ...own,
    fingerprint,
    current: true,
  });
});

test('a fingerprint is the beginning of the thumbprint that RFC 7638 describes', async () => {
  // Computed with Python's hashlib over the members in their order.
  const publicKey = {
    kty: 'EC' as const,
    crv: 'P-256' as const,
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  };
  expect(await fingerprintOf({ publicKey })).toBe('M2H3-5GQH-JJJK-AMYB');
});

test.runIf(HAS_TERMINALS)(
  'a no, or what was typed before the question, enrols nothing',
  async () => {
    const place = newPlace();
    await openState(place);
    const key = formatDeviceKey(await newKey());
    const terminal = openEnrol(place, key);
    terminal.type('y\r');
    await terminal.shows('y or n:');
    terminal.type('n\r');
    expect((await terminal.finished).code).toBe(1);
    expect(terminal.screen()).toContain('Nothing was enrolled.');
    expect(listOf(place)).toHaveLength(1);
  },
);

test.runIf(HAS_TERMINALS)('a key is taken from a file, and is in the list only once', async () => {
  const place = newPlace();
  await openState(place);
  const key = await newKey('My ‮ phone');
  const path = join(temporaryFolder(), 'key.json');
  writeFileSync(path, JSON.stringify(key));
  for (const says of ['may approve from now on', 'is enrolled already']) {
    const terminal = openEnrol(place, path);
    await terminal.shows('y or n:');
    expect(terminal.screen()).not.toContain('‮');
    terminal.type('y\r');
    await terminal.finished;
    expect(terminal.screen()).toContain(says);
  }
  expect(listOf(place)).toHaveLength(2);
  expect(listOf(place)[1]).toEqual({ ...key, enrolledAt: expect.stringMatching(/Z$/) });
  expect(await devices(place, 'revoke', key.label)).toMatchObject({ code: 0 });
  expect(listOf(place)).toHaveLength(1);
});

test('without a terminal nothing is enrolled', async () => {
  const place = newPlace();
  await openState(place);
  const refused = await devices(place, 'enrol', JSON.stringify(await newKey()));
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('There is no terminal to ask at');
  expect(listOf(place)).toHaveLength(1);
});

test('what is no key is refused in one line', async () => {
  const place = newPlace();
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'key'));
  writeFileSync(join(folder, 'other.json'), '{"kty": "EC"}');
  const key = await newKey();
  const offCurve = { ...key, publicKey: { ...key.publicKey, y: key.publicKey.x } };
  for (const [written, says] of [
    [join(folder, 'key'), 'neither a device key nor a file'],
    [join(folder, 'missing'), 'neither a device key nor a file'],
    [join(folder, 'other.json'), 'contains no device key'],
    [formatDeviceKey(key).slice(0, 60), 'neither a device key nor a file'],
    [formatDeviceKey(offCurve), 'not a point on the curve'],
  ] as const) {
    const refused = await devices(place, 'enrol', written);
    expect(refused).toEqual({ code: 2, stdout: '', stderr: oneLine(says) });
  }
});

test('revoking reports an unknown device, and of this machine', async () => {
  const place = newPlace();
  await openState(place);
  const unknown = await devices(place, 'revoke', 'tablet');
  expect(unknown).toEqual({
    code: 2,
    stdout: '',
    stderr: oneLine('There is no enrolled device tablet: .*devices` lists them'),
  });
  const [own] = listOf(place);
  const { stderr } = await devices(place, 'revoke', own?.deviceId ?? '');
  expect(stderr).toMatch(/^Revoked the enrolled device .*\(device_\S+\)\.\nThat is this machine/);
  expect(await devices(place)).toMatchObject({
    stderr: 'No device is enrolled for this folder.\n',
  });
});

test('a damaged list is reported, and stays as it is', async () => {
  const place = newPlace();
  await openState(place);
  const path = join(place.stateDir, 'devices.json');
  writeFileSync(path, 'broken');
  for (const args of [['list'], ['revoke', 'phone']]) {
    expect(await devices(place, ...args)).toMatchObject({ stderr: oneLine('devices.json') });
  }
  expect(readFileSync(path, 'utf8')).toBe('broken');
});

test('a device that is enrolled once counts in every folder of the machine, until it is revoked', async () => {
  const env = { XDG_STATE_HOME: temporaryFolder() };
  const folders = [temporaryFolder(), temporaryFolder()];
  const places = [];
  for (const workspaceDir of folders) {
    vi.stubEnv('XDG_STATE_HOME', env.XDG_STATE_HOME);
    places.push(await openState({ workspaceDir }));
    vi.unstubAllEnvs();
  }
  const [one, two] = places;
  const phone = { ...(await newKey()), enrolledAt: '2026-11-01T00:00:00Z' };
  const tablet = { ...(await newKey('tablet')), enrolledAt: '2026-11-01T00:00:00Z' };
  await changeDevices(one?.dir ?? '', (known) => [...known, phone]);
  await changeDevices(two?.projectDir ?? '', (known) => [...known, tablet]);
  const seen = async (cwd: string) => {
    const { stdout } = await callDrawbridge(['devices'], { cwd, env });
    return [phone, tablet].filter(({ deviceId }) => stdout.includes(deviceId));
  };
  expect(await Promise.all(folders.map(seen))).toEqual([[phone], [phone, tablet]]);
  const at = '2026-11-02T00:00:00Z';
  const uses = { [phone.deviceId]: at };
  writeFileSync(join(two?.projectDir ?? '', 'device-uses.json'), JSON.stringify(uses));
  const listed = await callDrawbridge(['devices'], { cwd: folders[0] ?? '', env });
  expect(listed.stdout).toContain(`\t${new Date(at).toISOString()}\tphone\n`);
  for (const name of ['phone', 'tablet']) {
    const revoked = await callDrawbridge(['devices', 'revoke', name], {
      cwd: folders[1] ?? '',
      env,
    });
    expect(revoked.code).toBe(0);
  }
  expect(await Promise.all(folders.map(seen))).toEqual([[], []]);
});

test('with --state nothing is made where there is no state', async () => {
  const home = temporaryFolder();
  const state = join(home, 'state');
  const run = (...args: string[]) =>
    callDrawbridge([...args, '--state', state], { cwd: home, env: { HOME: home } });
  for (const args of [
    ['token'],
    ['token', '--scope', 'metrics'],
    ['token', '--scope', 'bridge'],
    ['status'],
    ['stop'],
    ['devices'],
    ['devices', 'show'],
    ['devices', 'enrol', formatDeviceKey(await newKey())],
    ['devices', 'revoke', 'phone'],
    ['conversations', 'list'],
    ['backup', join(home, 'backup.tar')],
  ]) {
    const said = await run(...args);
    expect([args, said]).toEqual([
      args,
      { code: 2, stdout: '', stderr: oneLine(`There is no state in ${state}`) },
    ]);
  }
  expect(readdirSync(home)).toEqual([]);
});

test('with --state the current folder does not count, and only the token is kept', async () => {
  const home = temporaryFolder();
  const state = join(home, 'state');
  await openServerState(state);
  const before = readdirSync(state);
  const run = (...args: string[]) =>
    callDrawbridge([...args, '--state', state], { cwd: home, env: { HOME: home } });
  const metrics = await run('token', '--scope', 'metrics');
  expect([metrics.code, metrics.stderr]).toEqual([0, '']);
  expect(metrics.stdout).toMatch(/^[\w-]{43}\n$/);
  expect((await run('token')).stdout).toMatch(/^ey/);
  expect((await run('status')).stderr).toContain('No server runs');
  expect((await run('devices')).stderr).toContain('No device is enrolled');
  expect((await run('token', '--scope', 'bridge')).stderr).toContain('there is no bridge');
  expect(readdirSync(state).sort()).toEqual([...before, 'metrics-token', 'token'].sort());
});
