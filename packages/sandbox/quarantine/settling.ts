/** Decides whether a new protected thing stays or is put away, and carries that out. */
import { posix } from 'node:path';
import { kindOf } from '../../../machine/entry-kind.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { identityOf, REPOSITORY_SETTINGS } from '../../workspace/index.ts';
import { IGNORE_FILES, isAgents } from './away.ts';
import { HeldFolder } from './held-folder.ts';
import { type ProtectedThing, unsearched } from './listing.ts';
import type { Spot } from './moving.ts';
import {
  cleanRepository,
  HARMLESS,
  judgeAgentFolder,
  judgeSetting,
  type PutAway,
  type PuttingAway,
  putAwayWhole,
  reasonOf,
} from './put-away.ts';

/** The outcome for a protected thing. One that `configures` stays, and programs obey it. */
export type SettledThing = PutAway | { readonly state: 'gone' | 'configures' };

/** Handles the thing that is at the path now: a running command may have replaced it since the listing. */
export async function settle(
  { path, identity: listed, isUnsearched, isLed, isHooks }: ProtectedThing,
  putting: PuttingAway,
  known: ReadonlyMap<string, string>,
): Promise<{ identity: string; outcome: SettledThing }> {
  if (isHooks) return { identity: listed, outcome: { state: 'configures' } };
  let identity = listed;
  try {
    await using folder = await HeldFolder.open(posix.dirname(path));
    const spot = { folder, name: posix.basename(path) };
    identity = identityOf(await folder.stat(spot.name));
    if (isUnsearched) {
      const isSame = unsearched(identity) === listed;
      const outcome = isSame ? await putAwayWhole(spot, putting) : HARMLESS;
      return { identity: listed, outcome };
    }
    if (isLed) return { identity: listed, outcome: await settleSpot(spot, putting) };
    if (known.has(identity)) return { identity, outcome: { state: 'gone' } };
    return { identity, outcome: await settleSpot(spot, putting) };
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return { identity, outcome: { state: 'gone' } };
    return { identity, outcome: { state: 'failed', reason: reasonOf(error) } };
  }
}

async function settleSpot(spot: Spot, putting: PuttingAway): Promise<SettledThing> {
  const { folder, name } = spot;
  for (const whole of ['.drawbridge', ...IGNORE_FILES]) {
    if (await isNamed(spot, whole)) return await putAwayWhole(spot, putting);
  }
  if (REPOSITORY_SETTINGS.has(name)) return await judgeSetting(spot, putting);
  const isLink = kindOf(await folder.stat(name)) === 'link';
  if (isAgents(posix.basename(folder.path), name, isLink)) {
    const outcome = await judgeAgentFolder(spot, putting);
    return outcome.state === 'harmless' ? { state: 'configures' } : outcome;
  }
  if (!(await isNamed(spot, '.git'))) return { state: 'configures' };
  return await (putting.mayClean ? cleanRepository : putAwayWhole)(spot, putting);
}

/** On a file system that ignores case, `.GIT` is `.git`. */
async function isNamed({ folder, name }: Spot, wanted: string): Promise<boolean> {
  if (name === wanted) return true;
  if (!(await folder.has(wanted))) return false;
  return identityOf(await folder.stat(wanted)) === identityOf(await folder.stat(name));
}
