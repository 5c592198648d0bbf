/** Every attack as a test, as root and as an ordinary user: so many attempts, and not one may lead out. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, type TestContext, test } from 'vitest';
import { LOOT, MARK, PERSONAL_FILES, RACES } from '../../../../../bench/escapes/attacks.ts';
import {
  isOpenToOwner,
  NO_BUBBLEWRAP,
  OWNER,
  sandboxedWorkspace,
} from '../../sandboxed-workspace.ts';
import type { Outcome } from './attacker.ts';

type User = readonly [string, { uid?: number; gid?: number }];

/**
 * The users that a bridge can be here: root where this process is root, and the owner of the workspace, where the owner
 * gets to this repository.
 */
const BRIDGES: readonly User[] = [
  ...(OWNER.uid === undefined ? [] : [['root', {}] satisfies User]),
  ...(isOpenToOwner(import.meta.dirname) ? [['its owner', OWNER] satisfies User] : []),
];

/** On a machine that does other things as well; alone an attempt takes 20 to 100 ms. */
const MAX_ATTEMPT_MS = 2_000;
/** A sandbox and an attacker, started beside others. */
const MAX_START_MS = 30_000;

/**
 * So many attempts of each attack, shared by the users that a bridge can be. Two run at once, for the machine's sake.
 * `isHeld`: each command has mounts of its own, as where no base can be entered.
 */
export function describeRaces(times: number, { isHeld }: { isHeld: boolean }): void {
  const share = times / BRIDGES.length;
  const way = isHeld ? 'without a base' : 'with a base';
  describe
    .skipIf(NO_BUBBLEWRAP)
    .concurrent(`${times} attempts ${way} ${NO_BUBBLEWRAP ?? ''}`, () => {
      for (const [user, identity] of BRIDGES) {
        for (const { name } of RACES) {
          test(
            `do not lead out for a bridge of ${user} by exchanging ${name}`,
            async (context) => {
              context
                .expect(await race({ name, times: share, isHeld }, identity, context))
                .toEqual({ attempts: share, hits: 0, marked: [], outside: ['file', 'notes.txt'] });
            },
            MAX_START_MS + times * MAX_ATTEMPT_MS,
          );
        }
      }
    });
}

async function race(
  order: { name: string; times: number; isHeld: boolean },
  identity: { uid?: number; gid?: number },
  { expect, onTestFinished }: TestContext,
): Promise<unknown> {
  // Tests run side by side here: only the context knows whose end removes the place.
  const place = await sandboxedWorkspace();
  onTestFinished(place.remove);
  const { files = {} } = RACES.find(({ name }) => name === order.name) ?? {};
  for (const [file, text] of Object.entries(files)) await place.put(`workspace/${file}`, text);
  for (const file of PERSONAL_FILES) await place.put(file, LOOT);
  const attacker = spawn(process.execPath, [join(import.meta.dirname, 'attacker.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: '/usr/bin:/bin', HOME: place.path('home') },
    ...identity,
  });
  // Its bridge may be another user's than this one.
  const surroundings = { ...place.surroundings, maskFolder: place.path('own-masks') };
  attacker.stdin.end(JSON.stringify({ ...order, surroundings }));
  const { failed, reason, ...outcome } = (await json(attacker.stdout)) as Outcome;
  // A storm may make a command fail, never succeed where it must not; but if all failed nothing was tried.
  expect(failed, reason).toBeLessThan(order.times / 2);
  return {
    ...outcome,
    marked: await marked(place.base),
    outside: await readdir(place.path('outside')),
  };
}

/** Files outside the workspace, or in a repository of the person's, in which a command has written. */
async function marked(base: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('grep', ['-rl', MARK, base]).catch(({ stdout }) => ({
    stdout: String(stdout),
  }));
  const files = stdout.split('\n').filter((file: string) => file !== '');
  return files.filter((file: string) => {
    if (!file.startsWith(`${base}/workspace/`)) return true;
    const [repository] = file.split('/.git/');
    return existsSync(`${repository}/.git/person`);
  });
}
