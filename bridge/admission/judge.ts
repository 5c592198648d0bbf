/** What the owner's and the workspace's rules say about calls at this moment. */
import { join } from 'node:path';
import { listDir } from '../../shared/tools/list-dir.ts';
import { logTrouble } from '../log.ts';
import type { ToolFactsHere } from '../tools/executor.ts';
import { isTrusted } from './offer-verdict.ts';
import { type JudgedCall, judgeCall, type Policy, visibilityOf } from './policy.ts';
import { readRules } from './rules.ts';
import { deny, type Verdict } from './verdict.ts';
import { type Visibility, visibilityInAll } from './visibility.ts';

/** What the policy says about a call. */
export interface Judgement extends Verdict {
  /** What it may show; all of the workspace where this is undefined. */
  readonly visibility?: Visibility | undefined;
  /** Of an offer: whether the owner believes what its server says of it. */
  readonly isTrusted?: boolean;
}

/** `realNames` are where the paths of the call lead, relative to the workspace; undefined for one that is refused. */
export type Judge = (
  call: JudgedCall,
  realNames: readonly (string | undefined)[],
) => Promise<Judgement>;

export interface Surroundings {
  /** The folder of the workspace. */
  readonly root: string;
  readonly stateDir: string;
  /** Whether a command at work has made it. */
  readonly isForeign: (path: string) => Promise<boolean>;
}

/** Judges by the rule files as they are at that moment. */
export function createJudge(surroundings: Surroundings, { isConfined }: IsConfined): Judge {
  return async (call, realNames) => {
    const rules = await readAllRules(surroundings);
    if (rules === undefined) return deny(UNREADABLE_RULES);
    const policy = { workspace: surroundings.root, isConfined, realNames, ...rules };
    const { definition } = call;
    const isBelieved = definition.claims !== undefined && isTrusted(definition, policy);
    const verdict = { ...judgeCall(call, policy), visibility: visibilityOf(call, policy) };
    return isBelieved ? { ...verdict, isTrusted: true } : verdict;
  };
}

type IsConfined = Pick<Policy, 'isConfined'>;

/** What the prompt is told of the workspace is what `list_dir` could tell; nothing where the rules cannot be read. */
export async function readMayName(surroundings: Surroundings): Promise<(name: string) => boolean> {
  const rules = await readAllRules(surroundings);
  return rules === undefined ? () => false : visibilityInAll(listDir, rules).mayShow;
}

/** Which offers the owner's rules believe; none where the rules cannot be read. */
export async function readTrust(
  surroundings: Surroundings,
): Promise<(tool: ToolFactsHere) => boolean> {
  const rules = await readAllRules(surroundings);
  return (tool) => rules !== undefined && isTrusted(tool, rules);
}

/** Undefined when a file of rules is broken: what it forbids is not known then, so nothing may run. */
async function readAllRules({
  root,
  stateDir,
  isForeign: isForeignPath,
}: Surroundings): Promise<
  Pick<Policy, 'userRules' | 'workspaceRules' | 'trustsNetwork'> | undefined
> {
  try {
    // Rules that a command at work made are about to be quarantined, and must not stop other calls until then.
    const isForeign = await isForeignPath('.drawbridge');
    const owners = await readRules(join(stateDir, 'policy.json'));
    const workspaces = isForeign
      ? undefined
      : await readRules(join(root, '.drawbridge', 'policy.json'));
    return {
      userRules: owners.rules,
      trustsNetwork: owners.trustsNetwork,
      workspaceRules: workspaces?.rules ?? [],
    };
  } catch (error) {
    logTrouble('No call runs', error);
    return undefined;
  }
}

/** For the model, too: where our state is, and what is in it, only the log says. */
const UNREADABLE_RULES =
  'a file of rules is broken, the owner’s policy.json or .drawbridge/policy.json of the workspace, so nothing ' +
  'runs until the person mends it: `drawbridge check` in a terminal says what is wrong, and `drawbridge check --mend` ' +
  'puts a broken .drawbridge of the workspace into quarantine.';
