/** Decides whether a new protected thing stays or is put away, and carries that out. */
import { posix } from 'node:path';
import { isSystemError } from '../../machine/system-error.ts';
import { REPOSITORY_SETTINGS } from '../sandbox/view/protected.ts';
import { identityOf } from '../sandbox/view/scan.ts';
import { IGNORE_FILES, isAgents } from './away.ts';
import { HeldFolder, kindOf } from './held-folder.ts';
import { type ProtectedThing, unsearched } from './listing.ts';
import type { Spot } from './moving.ts';
import {
  cleanRepository,
  GONE,
  judgeAgentFolder,
  judgeSetting,
  type PutAway,
  type PuttingAway,
  putAwayWhole,
  reasonOf,
} from './put-away.ts';

/** Everything needed to put away the things that one look has found. */
export interface Putting extends PuttingAway {
  /** Whether a new repository may be cleaned and stay. */
  readonly mayClean: boolean;
}

/** The outcome for a protected thing. */
export type SettledThing =
  | Exclude<PutAway, { state: 'quarantined' }>
  | { readonly state: 'gone' }
  /** The thing stays, and programs obey it. */
  | { readonly state: 'configures' }
  /** `remains` tells whether the rest of the thing is still there. */
  | { readonly state: 'quarantined'; readonly what: readonly string[]; readonly remains: boolean };

/** Handles the thing that is at the path now: a running command may have replaced it since the listing. */
export async function settle(
  { path, identity: listed, isUnsearched, isLed }: ProtectedThing,
  putting: Putting,
  known: ReadonlyMap<string, string>,
): Promise<{ identity: string; outcome: SettledThing }> {
  let identity = listed;
  try {
    await using folder = await HeldFolder.open(posix.dirname(path));
    const spot = { folder, name: posix.basename(path) };
    identity = identityOf(await folder.stat(spot.name));
    if (isUnsearched) {
      const isSame = unsearched(identity) === listed;
      const outcome = isSame ? await putAwayWhole(spot, putting) : GONE;
      return { identity: listed, outcome: withRest(outcome, false) };
    }
    if (isLed) return { identity: listed, outcome: await settleSpot(spot, identity, putting) };
    if (known.has(identity)) return { identity, outcome: { state: 'gone' } };
    return { identity, outcome: await settleSpot(spot, identity, putting) };
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return { identity, outcome: { state: 'gone' } };
    return { identity, outcome: { state: 'failed', reason: reasonOf(error) } };
  }
}

async function settleSpot(spot: Spot, identity: string, putting: Putting): Promise<SettledThing> {
  const { folder, name } = spot;
  for (const whole of ['.drawbridge', ...IGNORE_FILES]) {
    if (await isNamed(spot, whole)) return withRest(await putAwayWhole(spot, putting), false);
  }
  if (REPOSITORY_SETTINGS.has(name)) {
    const outcome = await judgeSetting(spot, putting);
    return withRest(outcome, outcome.state !== 'quarantined');
  }
  const isLink = kindOf(await folder.stat(name)) === 'link';
  if (isAgents(posix.basename(folder.path), name, isLink)) {
    const outcome = await (putting.mayClean ? judgeAgentFolder : putAwayWhole)(spot, putting);
    return outcome.state === 'harmless' ? { state: 'configures' } : withRest(outcome, false);
  }
  if (!(await isNamed(spot, '.git'))) return { state: 'configures' };
  const outcome = await (putting.mayClean ? cleanRepository : putAwayWhole)(spot, putting);
  const remains = (await folder.has(name)) && identityOf(await folder.stat(name)) === identity;
  return withRest(outcome, remains);
}

function withRest(outcome: PutAway, remains: boolean): SettledThing {
  return outcome.state === 'quarantined' ? { ...outcome, remains } : outcome;
}

/** On a file system that ignores case, `.GIT` is `.git`. */
async function isNamed({ folder, name }: Spot, wanted: string): Promise<boolean> {
  if (name === wanted) return true;
  if (!(await folder.has(wanted))) return false;
  return identityOf(await folder.stat(wanted)) === identityOf(await folder.stat(name));
}
