import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { shellArgv } from '../../terminal/launch.ts';
import { spawnLaunch } from '../../terminal/spawn-launch.ts';

it('a program that reads its input gets it, and no file of the person’s shell runs before', async () => {
  const home = await temporaryFolder();
  await writeFile(join(home, '.bashrc'), 'echo ran; read -r first');
  const [file, ...args] = shellArgv('cat');
  const env = { HOME: home, PATH: process.env['PATH'] ?? '' };
  const launch = { file, args, cwd: home, env, inputs: [], hasPidNamespace: false };
  const { child } = spawnLaunch(launch, 'pipe');
  child.stdin?.end('one\ntwo\n');
  const printed = child.stdout ? await text(child.stdout) : '';
  expect(printed).toBe('one\ntwo\n');
});
