import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FORMAT_STEPS } from '../../../local/state/format.ts';
import { claimState, findInstance, isClaimed } from '../../../local/state/running.ts';
import { openState } from '../../../local/state/state.ts';
import { takeLock } from '../../../machine/lock.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test.each([
  ['the address of one that was killed', '{"url": "http://127.0.0.1:1", "pid": 1}'],
  ['what a loss of power left of it', ''],
])('an instance that is starting is not found by %s', async (_, text) => {
  const location = { workspaceDir: temporaryFolder(), stateDir: join(temporaryFolder(), 'state') };
  const state = await openState(location);
  writeFileSync(join(state.dir, 'instance.json'), text);
  const claim = await claimState(state);
  expect(await findInstance(location)).toBeUndefined();
  const reached = { url: 'http://127.0.0.1:2', control: '/control' };
  await claim.announce(reached);
  expect(await findInstance(location)).toEqual({ ...reached, pid: process.pid });
  await claim.release();
});

test('the address of a killed instance is not taken for that of the process that has the lock now', async () => {
  const location = { workspaceDir: temporaryFolder(), stateDir: join(temporaryFolder(), 'state') };
  const state = await openState(location);
  const text = '{"url": "http://127.0.0.1:1", "pid": 1}';
  writeFileSync(join(state.dir, 'instance.json'), text);
  const lock = takeLock(join(state.dir, 'lock'));
  expect(lock.isTaken).toBe(true);
  expect(await findInstance(location)).toBeUndefined();
  await expect(claimState(state)).rejects.toThrow('and is starting');
});

test('a state that a later version has upgraded since it was opened is not claimed', async () => {
  const stateDir = join(temporaryFolder(), 'state');
  const state = await openState({ workspaceDir: temporaryFolder(), stateDir });
  const format = { format: FORMAT_STEPS.length + 1, writtenBy: '9.9.9' };
  writeFileSync(join(stateDir, 'state.json'), JSON.stringify(format));
  await expect(claimState(state)).rejects.toThrow(/install version 9\.9\.9/);
  expect(isClaimed(stateDir)).toBe(false);
});
