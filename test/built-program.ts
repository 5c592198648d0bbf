/**
 * Builds the program of this clone (bin/own-copy.mjs) before the first test starts it. Test files run side by side: each
 * would find no program, and build one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** One copy of the program (bin/own-copy.mjs) for all tests, although many have a state folder of their own. */
export const PROGRAMS = {
  DRAWBRIDGE_PROGRAMS: join(ROOT, '.build', 'programs'),
  // Not those of the person who runs the tests: this clone may be a connected folder there.
  XDG_STATE_HOME: join(ROOT, '.build', 'state-home'),
  XDG_CONFIG_HOME: join(ROOT, '.build', 'config-home'),
};

/** Called once, before all tests. The progress of the run is shown meanwhile. @throws where the program does not start */
export async function setup(): Promise<void> {
  const launcher = join(ROOT, 'bin', 'drawbridge.mjs');
  const env = { ...process.env, ...PROGRAMS };
  const args = [launcher, '--version'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('The program of this clone does not start.');
}
