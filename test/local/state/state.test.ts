import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { OWN_VERSION } from '../../../local/own-root.ts';
import { locateState } from '../../../local/state/folder.ts';
import { FORMAT_STEPS } from '../../../local/state/format.ts';
import { openState, readUserToken } from '../../../local/state/state.ts';
import { DAY } from '../../../shared/units.ts';
import { approvalText, DEVICE_ALGORITHM } from '../../../shared/wire/approval-text.ts';
import { QUESTION } from '../../client/sample-tape.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { temporaryFolder } from '../temporary-folder.ts';

keepFoldersInMemory();

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const newLocation = () => ({
  workspaceDir: temporaryFolder(),
  stateDir: join(temporaryFolder(), 'state'),
});

test('a state is made once and is the same from then on', async () => {
  const location = newLocation();
  const first = await openState(location);
  expect(await openState(location)).toEqual(first);
  expect(Buffer.from(first.authSecret, 'base64url')).toHaveLength(32);
});

test('processes that make a state at the same time agree on it', async () => {
  const location = newLocation();
  const [first, ...others] = await Promise.all(
    Array.from({ length: 8 }, () => openState(location)),
  );
  for (const other of others) expect(other).toEqual(first);
  expect(readdirSync(location.stateDir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('only the owner can read the folder or a file in it', async () => {
  const location = newLocation();
  const state = await openState(location);
  await readUserToken(state, new Date());
  expect(modeOf(state.dir)).toBe('700');
  for (const name of ['auth-secret', 'bridge.json', 'device.json', 'devices.json', 'token']) {
    expect([name, modeOf(join(state.dir, name))]).toEqual([name, '600']);
  }
});

test('a state folder that was opened to others is closed again', async () => {
  const location = newLocation();
  await openState(location);
  chmodSync(location.stateDir, 0o755);
  await openState(location);
  expect(modeOf(location.stateDir)).toBe('700');
});

test("this machine's device is enrolled, and its key signs what the enrolled half verifies", async () => {
  const { dir, device } = await openState(newLocation());
  const [enrolled, ...others] = readJson(join(dir, 'devices.json')).devices;
  expect(others).toEqual([]);
  expect(enrolled).toEqual({
    deviceId: device.deviceId,
    label: device.label,
    publicKey: { kty: 'EC', crv: 'P-256', x: device.privateKey.x, y: device.privateKey.y },
  });
  const text = Buffer.from(approvalText(QUESTION));
  const key = await crypto.subtle.importKey('jwk', device.privateKey, DEVICE_ALGORITHM, false, [
    'sign',
  ]);
  const publicKey = await crypto.subtle.importKey(
    'jwk',
    enrolled.publicKey,
    DEVICE_ALGORITHM,
    false,
    ['verify'],
  );
  const signature = await crypto.subtle.sign(DEVICE_ALGORITHM, key, text);
  expect(await crypto.subtle.verify(DEVICE_ALGORITHM, publicKey, signature, text)).toBe(true);
});

test('two projects share the server and its device, and have a bridge each', async () => {
  vi.stubEnv('XDG_STATE_HOME', temporaryFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  const first = await openState({ workspaceDir: temporaryFolder() });
  const second = await openState({ workspaceDir: temporaryFolder() });
  expect(second).toEqual({
    ...first,
    projectDir: expect.stringContaining(join(first.dir, 'projects')),
    bridgeId: expect.not.stringMatching(first.bridgeId),
  });
  for (const { projectDir } of [first, second]) {
    const { devices } = readJson(join(projectDir, 'devices.json'));
    expect(devices).toMatchObject([{ deviceId: first.device.deviceId }]);
  }
});

test('a device that was struck from the list stays out', async () => {
  const location = newLocation();
  const { dir } = await openState(location);
  writeFileSync(join(dir, 'devices.json'), '{"devices":[]}');
  await openState(location);
  expect(readJson(join(dir, 'devices.json'))).toEqual({ devices: [] });
});

test.each([
  ['bridge.json', '{"bridgeId": "nonsense"}'],
  ['auth-secret', ''],
  ['auth-secret', '\0'.repeat(43)],
  ['auth-secret', 'c2hvcnQ'],
])('a damaged file is named: %s as %j', async (name, text) => {
  const location = newLocation();
  const { dir } = await openState(location);
  writeFileSync(join(dir, name), text);
  await expect(openState(location)).rejects.toThrow(`${join(dir, name)} is damaged`);
});

describe('the user token', () => {
  const start = new Date('2026-11-01T00:00:00Z');
  const later = (days: number) => new Date(start.getTime() + days * DAY);

  test('is kept while it lasts for more than a day, then renewed', async () => {
    const state = await openState(newLocation());
    const token = await readUserToken(state, start);
    expect(await readUserToken(state, later(28))).toBe(token);
    const renewed = await readUserToken(state, later(29.5));
    expect(renewed).not.toBe(token);
    expect(await readUserToken(state, later(30))).toBe(renewed);
  });

  test('is made anew when the kept one is damaged or of another secret', async () => {
    const [state, other] = [await openState(newLocation()), await openState(newLocation())];
    const foreign = await readUserToken(other, start);
    for (const kept of ['', 'nonsense', foreign]) {
      writeFileSync(join(state.dir, 'token'), kept);
      const token = await readUserToken(state, start);
      expect(token).not.toBe(kept);
      expect(await readUserToken(state, start)).toBe(token);
    }
  });
});

describe('the place of a state', () => {
  test('is one folder per workspace, whatever way leads to the workspace', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'a b'));
    symlinkSync(join(folder, 'a b'), join(folder, 'link'));
    const place = await locateState({ workspaceDir: join(folder, 'a b') });
    expect(place).toMatchObject({ kind: 'shared', workspaceDir: join(folder, 'a b') });
    expect(place.serverDir).toMatch(/\/drawbridge\/server$/);
    expect(place.projectDir).toMatch(/\/drawbridge\/server\/projects\/a-b-[0-9a-f]{10}$/);
    expect(await locateState({ workspaceDir: join(folder, 'link') })).toEqual(place);
    const other = await locateState({ workspaceDir: folder });
    expect(other.serverDir).toBe(place.serverDir);
    expect(other.projectDir).not.toBe(place.projectDir);
  });

  test('is the folder of its own that a workspace had before there was a shared server', async () => {
    const workspaceDir = temporaryFolder();
    vi.stubEnv('XDG_STATE_HOME', temporaryFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const { projectDir } = await locateState({ workspaceDir });
    const earlier = join(process.env['XDG_STATE_HOME'] ?? '', 'drawbridge', basename(projectDir));
    await openState({ workspaceDir, stateDir: earlier });
    const place = { kind: 'own', workspaceDir, serverDir: earlier, projectDir: earlier };
    expect(await locateState({ workspaceDir })).toEqual(place);
  });

  test('makes nothing', async () => {
    const location = newLocation();
    await locateState(location);
    expect(readdirSync(dirname(location.stateDir))).toEqual([]);
  });

  test.each(['state', '.', 'deep/er/state', 'link/state'])(
    'is refused inside the workspace: %s',
    async (name) => {
      const workspaceDir = temporaryFolder();
      symlinkSync(workspaceDir, join(workspaceDir, 'link'));
      const stateDir = join(workspaceDir, name);
      await expect(openState({ workspaceDir, stateDir })).rejects.toThrow(
        /must not contain each other/,
      );
    },
  );

  test('is refused around the workspace', async () => {
    const stateDir = temporaryFolder();
    const workspaceDir = join(stateDir, 'workspace');
    mkdirSync(workspaceDir);
    await expect(openState({ workspaceDir, stateDir })).rejects.toThrow(
      /must not contain each other/,
    );
  });

  test('is accepted beside a workspace whose name it begins with', async () => {
    const workspaceDir = temporaryFolder();
    const stateDir = `${workspaceDir}-state`;
    const place = { kind: 'own', workspaceDir, serverDir: stateDir, projectDir: stateDir };
    expect(await locateState({ workspaceDir, stateDir })).toEqual(place);
  });

  test('is refused where other files are, and they are left alone', async () => {
    const location = newLocation();
    mkdirSync(location.stateDir, { mode: 0o755 });
    writeFileSync(join(location.stateDir, 'thesis.txt'), '');
    await expect(openState(location)).rejects.toThrow(/contains other files/);
    expect(modeOf(location.stateDir)).toBe('755');
    expect(readdirSync(location.stateDir)).toEqual(['thesis.txt']);
  });
});

test.each([
  ['/', /contains your home folder/],
  [homedir(), /contains your home folder/],
  ['/there/is/no/such/folder', /is not a folder/],
  [import.meta.filename, /is not a folder/],
])('%s is no workspace', async (workspaceDir, reason) => {
  await expect(openState({ workspaceDir })).rejects.toThrow(reason);
});

test('the changelog names the version of each format of the state', () => {
  const changelog = readFileSync(
    join(import.meta.dirname, '..', '..', '..', 'CHANGELOG.md'),
    'utf8',
  );
  const rows = [...changelog.matchAll(/^\| (?:0–)?(\d+) +\| (\d+)\.(\d+)\.(\d+) +\|$/gm)];
  const formats = rows.map(([, format]) => Number(format));
  const [first = 0] = formats;
  expect(formats).toEqual(formats.map((_, index) => first + index));
  expect(formats.at(-1)).toBe(FORMAT_STEPS.length);
  const versions = rows.map(([, , ...parts]) =>
    parts.reduce((sum, part) => sum * 1_000 + Number(part), 0),
  );
  expect([...new Set(versions)].sort((one, other) => one - other)).toEqual(versions);
  const own = OWN_VERSION.split('.').reduce((sum, part) => sum * 1_000 + Number(part), 0);
  expect(versions.at(-1)).toBeLessThanOrEqual(own);
});
