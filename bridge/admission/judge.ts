/** Applies the owner's and the workspace's rules, as they are now, to calls. */
import { join } from 'node:path';
import { currentCall, logTrouble } from '../../machine/log.ts';
import type { ToolFactsHere } from '../../packages/host/index.ts';
import type { Workspace } from '../../packages/workspace/index.ts';
import type { HostPort } from '../../shared/text/hosts.ts';
import type { ToolFacts } from '../../shared/tools/definition.ts';
import { listDir } from '../../shared/tools/list-dir.ts';
import { readFile } from '../../shared/tools/read-file.ts';
import { WORKTREE_TOOLS } from '../../shared/tools/worktree.ts';
import type { Preset } from '../../shared/wire/preset.ts';
import { type GrantOf, NOT_GRANTED } from '../grantees/grantees.ts';
import { type ConnectionVerdict, judgeConnection } from './network-verdict.ts';
import { isTrusted } from './offer-verdict.ts';
import { type JudgedCall, judgeCall, type Policy, visibilityOf } from './policy.ts';
import {
  ownersFiles,
  RULE_FILE_NAME,
  type Rule,
  readOwnersRules,
  readRules,
  rulesOfPreset,
} from './rules.ts';
import { ask, deny, strictestOf, type Verdict } from './verdict.ts';
import { type Visibility, visibilityInAll } from './visibility.ts';
import { type IsSiteAllowed, judgePage, mayFetch } from './web.ts';

/** The policy's verdict on a call. */
export interface Judgement extends Verdict {
  /** What the call may show; undefined means the whole workspace. */
  readonly visibility?: Visibility | undefined;
  /** For an offered tool: whether the owner's rules believe the server's claims about it. */
  readonly isTrusted?: boolean;
}

/**
 * `realNames` are the real paths of the call, relative to the workspace; undefined for a path that is refused. `added`
 * are rules that count as the owner's last ones.
 */
export type Judge = (
  call: JudgedCall,
  realNames: readonly (string | undefined)[],
  added?: readonly Rule[],
) => Promise<Judgement>;

export interface JudgeSurroundings {
  /** The folder of the workspace. */
  readonly root: string;
  readonly stateDir: string;
  /** The folder of the owner's configuration, whose policy.json holds for all projects. */
  readonly configDir?: string | undefined;
  /** The preset where the owner's policy.json names none. Default: `workspace`. */
  readonly preset?: Preset | undefined;
  /** Whether a running command has made the path. */
  readonly isForeign: (path: string) => Promise<boolean>;
  /** Its ignore files hold for the prompt. */
  readonly workspace?: Pick<Workspace, 'mayName' | 'mayShow' | 'mayVolunteer'>;
}

/** What the judge knows beside the rules. */
export interface JudgeFacts extends Pick<Policy, 'isConfined' | 'opensHosts'> {
  /** Whether an editor says that its user does not trust the workspace. It only makes decisions stricter. */
  readonly isDistrusted?: () => boolean;
  /** Whether a person has allowed the site (host and port) for the conversation. */
  readonly isSiteAllowed?: (conversationId: string, site: string) => boolean;
  /** The rules that people's answers made for the conversation. */
  readonly answeredIn?: ((conversationId: string) => readonly Rule[]) | undefined;
  /** The grant that the conversation works by, where it is not the owner's. */
  readonly grantOf?: GrantOf | undefined;
  /** The folder that stands for the workspace in calls: a worktree of its repository. */
  readonly folder?: string;
}

/** Judges by the rule files as they are at that moment. */
export function createJudge(
  surroundings: JudgeSurroundings,
  {
    isConfined,
    opensHosts = false,
    isDistrusted = () => false,
    isSiteAllowed,
    answeredIn,
    grantOf,
    folder,
  }: JudgeFacts,
): Judge {
  const { root } = surroundings;
  const place = folder === undefined ? { workspace: root } : { workspace: folder, standsFor: root };
  return async (call, realNames, added = []) => {
    const { conversationId = '', definition } = call;
    const rules = await readRulesFor(surroundings, { answeredIn, grantOf }, conversationId);
    if ('problem' in rules) return deny(rules.problem);
    const isAllowed = (site: string) => isSiteAllowed?.(conversationId, site) ?? false;
    const { ceiling, makesWorktrees = false, mayNotLift = false, ...own } = rules;
    const userRules = [...own.userRules, ...added];
    const facts = { ...place, isConfined, opensHosts, realNames, isSiteAllowed: isAllowed };
    const policy = { ...facts, ...own, userRules };
    const isBelieved = definition.claims !== undefined && isTrusted(definition, policy);
    // A grant for worktrees lets them be made: its preset is for the work in them.
    const isFree = makesWorktrees && WORKTREE_TOOLS.some(({ name }) => name === definition.name);
    const isByPreset = mayNotLift && definition.effect === 'execute';
    const judged = strictestOf([
      judgeCall(call, policy),
      ...(isFree ? [] : [judgeCall(call, { ...policy, userRules: [...userRules, ...ceiling] })]),
      ...(isByPreset ? [judgeCall(call, { ...policy, userRules: ceiling })] : []),
    ]);
    const stricter = judged.decision === 'allow' && isDistrusted() ? ask(DISTRUSTED) : judged;
    const verdict = { ...stricter, visibility: visibilityOf(call, policy) };
    return isBelieved ? { ...verdict, isTrusted: true } : verdict;
  };
}

/** What a running command was granted of the network. */
interface NetworkGrant {
  readonly conversationId: string;
  readonly hosts: readonly string[];
}

/** Judges each connection of running commands by the rule files as they are at that moment. */
export function createConnectionJudge(
  surroundings: JudgeSurroundings,
  { isDistrusted = () => false, ...by }: Pick<JudgeFacts, 'isDistrusted'> & RulesBy,
): (target: HostPort, grant: NetworkGrant) => Promise<ConnectionVerdict> {
  return async (target, { conversationId, hosts }) => {
    const rules = await readRulesFor(surroundings, by, conversationId);
    if ('problem' in rules) return { isOpen: false, reason: rules.problem };
    const userRules = [...rules.userRules, ...rules.ceiling];
    const facts = { trustsNetwork: rules.trustsNetwork === true, isDistrusted: isDistrusted() };
    return judgeConnection(target, hosts, { ...rules, userRules }, facts);
  };
}

/** Names and addresses that the prompt may show without a question. */
export interface Showable {
  readonly mayName: (name: string) => boolean;
  readonly mayVolunteer: (name: string) => boolean;
  readonly mayRead: (name: string) => boolean;
  readonly mayFetch: (url: string) => boolean;
}

/**
 * What the prompt may show of a path, relative to the workspace: its name where `list_dir` shows it, its content where
 * `read_file` shows it; and which web pages may be read for it. `mayVolunteer` is about names that nothing asked
 * for. Nothing when the rules cannot be read.
 */
export async function readShowable(surroundings: JudgeSurroundings): Promise<Showable> {
  const rules = await readAllRules(surroundings);
  const shownBy = (tool: ToolFacts) =>
    rules === undefined ? () => false : visibilityInAll(tool, rules).mayShow;
  const [isNameable, isReadable] = [shownBy(listDir), shownBy(readFile)];
  const { root, workspace } = surroundings;
  return {
    mayName: (name) =>
      isNameable(name) && workspace?.mayName(join(root, name), name.endsWith('/')) !== false,
    mayVolunteer: (name) =>
      isNameable(name) && workspace?.mayVolunteer(join(root, name), name.endsWith('/')) !== false,
    mayRead: (name) => isReadable(name) && workspace?.mayShow(join(root, name)) !== false,
    mayFetch: (url) => rules !== undefined && mayFetch(url, rules),
  };
}

/**
 * The same for what one message names. Where an editor says that its user does not trust the workspace, no content is
 * shown, because every call asks then.
 */
export async function readFindable(
  surroundings: JudgeSurroundings,
  isDistrusted: () => boolean,
): Promise<Showable> {
  const showable = await readShowable(surroundings);
  return isDistrusted() ? { ...showable, mayRead: () => false, mayFetch: () => false } : showable;
}

/**
 * Whether an admitted call of web_fetch may go on to the address that its page leads to. No when the rules cannot be
 * read, and where an editor says that its user does not trust the workspace: every address asks then.
 */
export async function readPageRules(
  surroundings: JudgeSurroundings,
  {
    isConfined,
    isDistrusted = () => false,
    grantOf,
  }: Pick<JudgeFacts, 'isConfined' | 'isDistrusted' | 'grantOf'>,
  conversationId: string,
): Promise<(url: string, isSiteAllowed: IsSiteAllowed) => boolean> {
  const rules = await readRulesFor(surroundings, { grantOf }, conversationId);
  if ('problem' in rules || isDistrusted()) return () => false;
  const isOpen = isConfined && rules.trustsNetwork === true;
  const policy = { ...rules, userRules: [...rules.userRules, ...rules.ceiling] };
  return (url, isSiteAllowed) =>
    judgePage(url, policy, (site) => isOpen || isSiteAllowed(site)).decision === 'allow';
}

/** The offered tools that the owner's rules believe; none when the rules cannot be read. */
export async function readTrust(
  surroundings: JudgeSurroundings,
): Promise<(tool: ToolFactsHere) => boolean> {
  const rules = await readAllRules(surroundings);
  return (tool) => rules !== undefined && isTrusted(tool, rules);
}

/** What else decides about a conversation. */
type RulesBy = Pick<JudgeFacts, 'answeredIn' | 'grantOf'>;

type AllRules = Pick<Policy, 'userRules' | 'workspaceRules' | 'trustsNetwork'>;

interface RulesHere extends AllRules {
  /** The rules of the conversation's grant, which only tighten. */
  readonly ceiling: readonly Rule[];
  readonly makesWorktrees?: boolean | undefined;
  /** Whether no rule of the owner lifts what the preset says of commands: it was written for the owner's own. */
  readonly mayNotLift?: boolean;
}

/**
 * The rules for a conversation. For one of another account than the owner's those that the owner wrote: what people
 * answered was about the owner's own calls.
 */
async function readRulesFor(
  surroundings: JudgeSurroundings,
  { answeredIn, grantOf }: RulesBy,
  conversationId: string,
): Promise<RulesHere | { readonly problem: string }> {
  const grant = await grantOf?.(conversationId);
  const rules = await readAllRules(surroundings);
  if (grant === null) return { problem: NOT_GRANTED };
  if (rules === undefined) return { problem: UNREADABLE_RULES };
  if (grant === undefined) {
    const userRules = [...rules.userRules, ...(answeredIn?.(conversationId) ?? [])];
    return { ...rules, userRules, ceiling: [] };
  }
  const preset = rulesOfPreset(grant.preset);
  return {
    ...rules,
    userRules: rules.userRules.filter(({ answered }) => answered === undefined),
    trustsNetwork: rules.trustsNetwork === true && preset.trustsNetwork,
    ceiling: preset.rules,
    makesWorktrees: grant.worktrees,
    mayNotLift: grant.preset !== 'trusted',
  };
}

/** Undefined when a rule file is broken: its rules are unknown then, so no call may run. */
async function readAllRules({
  root,
  stateDir,
  configDir,
  preset,
  isForeign: isForeignPath,
}: JudgeSurroundings): Promise<AllRules | undefined> {
  try {
    // Rules that a running command made are about to be quarantined. Until then they must not stop other calls.
    const isForeign = await isForeignPath('.drawbridge');
    const owners = await readOwnersRules(ownersFiles(stateDir, configDir), preset);
    const workspaces = isForeign
      ? undefined
      : await readRules(join(root, '.drawbridge', RULE_FILE_NAME));
    return {
      userRules: owners.rules,
      trustsNetwork: owners.trustsNetwork,
      workspaceRules: workspaces?.rules ?? [],
    };
  } catch (error) {
    logTrouble({ event: 'rules_unreadable', ...currentCall() }, 'No call runs', error);
    return undefined;
  }
}

const DISTRUSTED =
  'An editor said that you do not trust this workspace, so every call asks until you trust it in an editor that you have confirmed, or by `drawbridge ide trust`.';

/** The model reads this too, so it leaves out the path and content of our state. The log has them. */
const UNREADABLE_RULES =
  'a file of rules is broken, the owner’s policy.json or .drawbridge/policy.json of the workspace, so nothing ' +
  'runs until the person repairs it: `drawbridge check` in a terminal says what is wrong, and `drawbridge check --repair` ' +
  'puts a broken .drawbridge of the workspace into quarantine.';
