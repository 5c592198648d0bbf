/** Decides whether a new protected thing stays or is put away, and carries that out. */
import { posix } from 'node:path';
import { isSystemError } from '../../machine/system-error.ts';
import { INDEX_IGNORE_FILES, TOOL_IGNORE_FILES } from '../ignored/chain.ts';
import { REPOSITORY_SETTINGS } from '../sandbox/protected.ts';
import { AGENT_FOLDERS, PROTECTED_IN_GITHUB } from '../sandbox/protected-kinds.ts';
import { identityOf } from '../sandbox/scan.ts';
import { HeldFolder } from './held-folder.ts';
import type { ProtectedThing } from './listing.ts';
import type { Spot } from './moving.ts';
import {
  cleanRepository,
  judgeAgentFolder,
  judgeSetting,
  type PutAway,
  type PuttingAway,
  putAwayWhole,
  reasonOf,
} from './put-away.ts';

/** A new one could close anything to the agent's tools. */
const IGNORE_FILES = [...TOOL_IGNORE_FILES, ...INDEX_IGNORE_FILES];

/** Everything needed to put away the things that one look has found. */
export interface Putting extends PuttingAway {
  /** Whether a new repository may be cleaned and stay. */
  readonly mayClean: boolean;
}

/** The outcome for a protected thing. */
export type Outcome =
  | Exclude<PutAway, { state: 'quarantined' }>
  | { readonly state: 'gone' }
  /** The thing stays, and programs obey it. */
  | { readonly state: 'configures' }
  /** `remains` tells whether the rest of the thing is still there. */
  | { readonly state: 'quarantined'; readonly what: readonly string[]; readonly remains: boolean };

/** Handles the thing that is at the path now: a running command may have replaced it since the listing. */
export async function settle(
  { path, identity: listed }: ProtectedThing,
  putting: Putting,
  known: ReadonlyMap<string, string>,
): Promise<{ identity: string; outcome: Outcome }> {
  let identity = listed;
  try {
    await using folder = await HeldFolder.open(posix.dirname(path));
    const spot = { folder, name: posix.basename(path) };
    identity = identityOf(await folder.stat(spot.name));
    if (known.has(identity)) return { identity, outcome: { state: 'gone' } };
    return { identity, outcome: await settleSpot(spot, identity, putting) };
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return { identity, outcome: { state: 'gone' } };
    return { identity, outcome: { state: 'failed', reason: reasonOf(error) } };
  }
}

async function settleSpot(spot: Spot, identity: string, putting: Putting): Promise<Outcome> {
  const { folder, name } = spot;
  for (const whole of ['.drawbridge', ...IGNORE_FILES]) {
    if (await isNamed(spot, whole)) return withRest(await putAwayWhole(spot, putting), false);
  }
  if (REPOSITORY_SETTINGS.has(name)) {
    const outcome = await judgeSetting(spot, putting);
    return withRest(outcome, outcome.state !== 'quarantined');
  }
  if (isAgents(spot)) {
    const outcome = await (putting.mayClean ? judgeAgentFolder : putAwayWhole)(spot, putting);
    return outcome.state === 'harmless' ? { state: 'configures' } : withRest(outcome, false);
  }
  if (!(await isNamed(spot, '.git'))) return { state: 'configures' };
  const outcome = await (putting.mayClean ? cleanRepository : putAwayWhole)(spot, putting);
  const remains = (await folder.has(name)) && identityOf(await folder.stat(name)) === identity;
  return withRest(outcome, remains);
}

/** Names count in any case: some file systems ignore it. */
function isAgents({ folder, name }: Spot): boolean {
  const lower = name.toLowerCase();
  const isInGithub = posix.basename(folder.path).toLowerCase() === '.github';
  return AGENTS.has(lower) || (isInGithub && IN_GITHUB.has(lower));
}

const AGENTS: ReadonlySet<string> = new Set(AGENT_FOLDERS);
const IN_GITHUB: ReadonlySet<string> = new Set(PROTECTED_IN_GITHUB);

function withRest(outcome: PutAway, remains: boolean): Outcome {
  return outcome.state === 'quarantined' ? { ...outcome, remains } : outcome;
}

/** On a file system that ignores case, `.GIT` is `.git`. */
async function isNamed({ folder, name }: Spot, wanted: string): Promise<boolean> {
  if (name === wanted) return true;
  if (!(await folder.has(wanted))) return false;
  return identityOf(await folder.stat(wanted)) === identityOf(await folder.stat(name));
}
