import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { openState } from '../../../local/state/state.ts';
import { newPlace, runDrawbridge } from '../drawbridge.ts';

test('token prints the kept token of the user', async () => {
  const place = newPlace();
  const args = ['token', '--workspace', place.workspaceDir, '--state', place.stateDir];
  const first = await runDrawbridge(args);
  expect(first).toEqual({ code: 0, stdout: expect.stringMatching(/^ey\S+\n$/), stderr: '' });
  expect(await runDrawbridge(args)).toEqual(first);
});

test('token prints a token for the bridge of that state', async () => {
  const place = newPlace();
  const args = ['token', '--state', place.stateDir, '--scope', 'bridge'];
  const { stdout } = await runDrawbridge(args, { cwd: place.workspaceDir });
  const { bridgeId } = await openState(place);
  expect(decodeJwt(stdout)).toMatchObject({ scope: 'bridge', bridge: bridgeId });
});
