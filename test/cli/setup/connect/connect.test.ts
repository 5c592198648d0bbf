import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openState } from '../../../../local/state/state.ts';
import { mintToken } from '../../../../local/state/tokens.ts';
import { DAY } from '../../../../shared/units.ts';
import { newConfig } from '../../../local/config/config-folder.ts';
import { FAKE_BRIDGE } from '../../bundle.ts';
import { callDrawbridge } from '../../called.ts';
import { newPlace, type Place, runDrawbridge, startDrawbridge } from '../../drawbridge.ts';

const BRIDGE: [string, string] = [process.execPath, FAKE_BRIDGE];
const URL = 'http://127.0.0.1:1';

const argumentsFor = ({ workspaceDir, stateDir }: Place): string[] => [
  'connect',
  URL,
  '--workspace',
  workspaceDir,
  '--state',
  stateDir,
];

describe('connect at a terminal', () => {
  test('is the bridge that its token is for, until it is interrupted', async () => {
    const place = newPlace();
    const { authSecret, bridgeId } = await openState(place);
    const token = await mintToken(authSecret, { scope: 'bridge', bridgeId }, new Date());
    const env = { DRAWBRIDGE_TOKEN: token, GROQ_API_KEY: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
    const { process: bridge, finished } = startDrawbridge(argumentsFor(place), {
      env,
      program: BRIDGE,
    });
    const seen = () => JSON.parse(readFileSync(join(place.stateDir, 'bridge-saw.json'), 'utf8'));
    await expect.poll(seen).toEqual({
      url: URL,
      token,
      bridgeId,
      ...folders(place),
      machineDir: place.stateDir,
      machineId: expect.stringMatching(/^device_/),
      machineKey: expect.objectContaining({ privateKey: {} }),
      asksAtTerminal: true,
      preset: 'workspace',
      codeInPrompt: ['agent', 'plan', 'ask'],
      devicesMayAllowAlways: false,
      devicesNeedPasskey: false,
      configDir: expect.any(String),
      environment: [],
    });
    bridge.kill('SIGINT');
    const stderr = 'Connected. Sandbox: none. It is a test.\n';
    expect(await finished).toEqual({ code: 0, stdout: '', stderr });
  });

  test("takes the owner's preset from config.json", async () => {
    const place = newPlace();
    const { env } = newConfig({ preset: 'read-only' });
    const args = [...argumentsFor(place), '--token-file', await writeToken(place)];
    startDrawbridge(args, { env, program: BRIDGE });
    const seen = () => JSON.parse(readFileSync(join(place.stateDir, 'bridge-saw.json'), 'utf8'));
    await expect.poll(seen).toMatchObject({ preset: 'read-only' });
  });

  test('warns of a token that ends within three days, and takes the next one from its file', async () => {
    const place = newPlace();
    const tokenFile = await writeToken(place, 2 * DAY);
    const args = [...argumentsFor(place), '--token-file', tokenFile];
    const bridge = startDrawbridge(args, { env: { FAKE_BRIDGE: 'renewed' }, program: BRIDGE });
    await expect.poll(bridge.stderr).toContain('Connected.');
    const [, end = ''] = /ends at (\S+): write a new one into (\S+)/.exec(bridge.stderr()) ?? [];
    expect(Math.abs(Date.parse(end) - Date.now() - 2 * DAY)).toBeLessThan(60_000);
    const written = readFileSync(await writeToken(place, 30 * DAY), 'utf8').trim();
    const seen = () => readFileSync(join(place.stateDir, 'token-read'), 'utf8');
    await expect.poll(seen).toBe(written);
  });

  test('does not warn of a token that lasts', async () => {
    const place = newPlace();
    const args = [...argumentsFor(place), '--token-file', await writeToken(place, 4 * DAY)];
    const bridge = startDrawbridge(args, { program: BRIDGE });
    await expect.poll(bridge.stderr).toContain('Connected.');
    expect(bridge.stderr()).not.toContain('ends at');
  });

  test('says in one line why it was refused', async () => {
    const place = newPlace();
    const tokenFile = await writeToken(place);
    const args = [...argumentsFor(place), '--token-file', tokenFile];
    const env = { FAKE_BRIDGE: 'refused' };
    expect(await runDrawbridge(args, { env, program: BRIDGE })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'drawbridge: The versions do not match.\n',
    });
  });
});

test('the process of the bridges ends when its server is gone before it listens', async () => {
  const [program, ...first] = BRIDGE;
  const bridges = spawn(program, [...first, 'bridge-host'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(() => void bridges.kill('SIGKILL'));
  bridges.disconnect();
  expect(await once(bridges, 'exit')).toEqual([0, null]);
});

test('a bridge says in one line that its journal is damaged', async () => {
  const place = newPlace();
  const tokenFile = await writeToken(place);
  writeFileSync(join(place.stateDir, 'journal.jsonl'), 'nonsense\n');
  const args = [...argumentsFor(place), '--token-file', tokenFile];
  const { code, stderr } = await runDrawbridge(args);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^drawbridge: The journal is damaged: .*harm\.\n$/),
  ]);
});

describe('connect refuses', () => {
  test.each([
    ['no token', undefined, /not signed in at http:.* login .*DRAWBRIDGE_TOKEN/],
    ['a token that is none', 'nonsense', /not a JWT/],
    ['a user token', userToken(), /names no bridge/],
  ])('%s', async (_, token, reason) => {
    const env = { DRAWBRIDGE_TOKEN: await token };
    const { code, stderr } = await callDrawbridge(argumentsFor(newPlace()), { env });
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
  });

  test('a token file that is missing', async () => {
    const args = [...argumentsFor(newPlace()), '--token-file', '/no/such/file'];
    const { code, stderr } = await callDrawbridge(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/\/no\/such\/file cannot be read/)]);
  });
});

function folders({ workspaceDir, stateDir }: Place) {
  return { workspaceDir, stateDir };
}

function userToken(): Promise<string> {
  return mintToken(Buffer.alloc(32).toString('base64url'), { scope: 'user' }, new Date());
}

async function writeToken(place: Place, lifeMs = 30 * DAY): Promise<string> {
  const { dir, authSecret, bridgeId } = await openState(place);
  const path = join(dir, 'bridge-token');
  const grant = { scope: 'bridge', bridgeId } as const;
  writeFileSync(path, `${await mintToken(authSecret, grant, new Date(), { lifeMs })}\n`);
  return path;
}
