import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, jwtVerify } from 'jose';
import { expect, test, vi } from 'vitest';
import { openState } from '../../../local/state/state.ts';
import { mintToken } from '../../../local/state/tokens.ts';
import { newBridgeId } from '../../../shared/ids.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace } from '../drawbridge.ts';

test('token prints the kept token of the user', async () => {
  const place = newPlace();
  await openState(place);
  const args = ['token', '--workspace', place.workspaceDir, '--state', place.stateDir];
  const first = await callDrawbridge(args);
  expect(first).toEqual({ code: 0, stdout: expect.stringMatching(/^ey\S+\n$/), stderr: '' });
  expect(await callDrawbridge(args)).toEqual(first);
});

test('token prints a token for the bridge of that state', async () => {
  const place = newPlace();
  const { bridgeId } = await openState(place);
  const args = ['token', '--state', place.stateDir, '--scope', 'bridge'];
  const { stdout } = await callDrawbridge(args, { cwd: place.workspaceDir });
  expect(decodeJwt(stdout)).toMatchObject({ scope: 'bridge', bridge: bridgeId });
});

test('a command warns of a token that ends within three days', async () => {
  const at = async (lifeMs: number) => {
    const secret = Buffer.alloc(32, 1).toString('base64url');
    const token = await mintToken(secret, { scope: 'user' }, new Date(), { lifeMs });
    const args = ['conversations', 'list', '--url', 'http://127.0.0.1:1', '--token', token];
    return (await callDrawbridge(args)).stderr;
  };
  const dayMs = 24 * 60 * 60 * 1000;
  expect(await at(2 * dayMs)).toMatch(/^drawbridge: the token ends at \S+Z: get a new one\.\n/);
  expect(await at(4 * dayMs)).not.toContain('ends at');
});

test('of two secrets the first signs, and a token of the second is made again', async () => {
  const place = newPlace();
  const { authSecret } = await openState(place);
  const args = ['token', '--state', place.stateDir, '--workspace', place.workspaceDir];
  const old = (await callDrawbridge(args)).stdout;
  const newer = Buffer.alloc(32, 7).toString('base64url');
  writeFileSync(join(place.stateDir, 'auth-secret'), `${newer},\n${authSecret}\n`);
  const { stdout } = await callDrawbridge(args);
  expect(stdout).not.toBe(old);
  await jwtVerify(stdout.trim(), Buffer.alloc(32, 7));
  writeFileSync(join(place.stateDir, 'auth-secret'), `${newer},c2hvcnQ`);
  const { code, stderr } = await callDrawbridge(args);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/second secret that .*fewer than 32/)]);
});

test('in a folder of the shared server a token names the bridge of the folder', async () => {
  const env = { XDG_STATE_HOME: temporaryFolder() };
  const folders = [temporaryFolder(), temporaryFolder()];
  const bridges = [];
  for (const workspaceDir of folders) {
    vi.stubEnv('XDG_STATE_HOME', env.XDG_STATE_HOME);
    bridges.push((await openState({ workspaceDir })).bridgeId);
    vi.unstubAllEnvs();
  }
  const printed = async (cwd: string) => (await callDrawbridge(['token'], { cwd, env })).stdout;
  const tokens = await Promise.all(folders.map(printed));
  expect(tokens.map((token) => decodeJwt(token)['bridge'])).toEqual(bridges);
  expect(await Promise.all(folders.map(printed))).toEqual(tokens);
  expect(decodeJwt(await printed(temporaryFolder()))).not.toHaveProperty('bridge');
});

test('a token for an account elsewhere may name the bridge of its messages', async () => {
  const secret = join(temporaryFolder(), 'secret');
  writeFileSync(secret, Buffer.alloc(32, 3).toString('base64url'));
  const bridge = newBridgeId(crypto.randomUUID());
  const args = ['token', '--for', 'ana', '--secret-file', secret, '--bridge-id', bridge];
  expect(decodeJwt((await callDrawbridge(args)).stdout)).toMatchObject({ scope: 'user', bridge });
});
