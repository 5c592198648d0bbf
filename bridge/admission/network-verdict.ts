/** Decides about the hosts that a command reaches: before it runs, and at each of its connections. Pure. */
import {
  type HostPort,
  hostText,
  isAddress,
  USUAL_PORTS,
  WHOLE_NETWORK,
} from '../../shared/text/hosts.ts';
import { matchesWildcard, splitPattern } from '../../shared/text/wildcard.ts';
import { hostWords, isRegistry } from '../../shared/tools/registries.ts';
import { NETWORK } from './rule-names.ts';
import { type DecidingRules, type Rulebook, rulesThatDecide, verdictsOf } from './rulebook.ts';
import type { Rule } from './rules.ts';
import { allow, ask, deny, strictestOf, type Verdict } from './verdict.ts';

interface NetworkSurroundings {
  readonly isConfined: boolean;
  readonly trustsNetwork?: boolean;
}

/** What the rules say of the hosts that a command wants. */
interface HostsJudged {
  /** The verdicts on single hosts, and the rules on registries that forbid or ask. */
  readonly verdicts: readonly Verdict[];
  /** Whether the rules open all that needs no verdict of its own: the registries. */
  readonly isOpen: boolean;
}

/** The registries are one group, which a rule for the command may open, too. Each other host has a verdict of its own. */
export function judgeHosts(
  hosts: readonly string[],
  book: Rulebook,
  surroundings: NetworkSurroundings,
): HostsJudged {
  const { trustsNetwork = false } = surroundings;
  const registries = hosts.filter(isRegistry).map((host) => rulesAbout(wanted(host), book));
  const others = hosts.filter((host) => !isRegistry(host));
  const isWhole = hosts.includes(WHOLE_NETWORK);
  return {
    verdicts: [
      ...others.flatMap((host) =>
        isWhole ? judgeWhole(book, surroundings) : judgeWanted(host, hosts, book, surroundings),
      ),
      ...registries.flatMap((rules) => verdictsOf(rules, allow('No rule is about it.'))),
    ],
    isOpen: isWhole || trustsNetwork || registries.every(({ owners }) => owners !== undefined),
  };
}

/** Rules about single hosts cannot hold in the whole network, so where some forbid or ask, a person decides. */
function judgeWhole(
  book: Rulebook,
  { isConfined, trustsNetwork = false }: NetworkSurroundings,
): Verdict[] {
  const strict = [...book.userRules, ...book.workspaceRules].filter(
    (rule) => rule.decision !== 'allow' && isAboutNetwork(rule),
  );
  const forAll = strict.filter(({ pattern }) => /^\*+(?::\*)?$/.test(pattern));
  const isOpen = !isConfined || (trustsNetwork && strict.length === 0);
  return [
    ...verdictsOf({ owners: forAll.findLast((rule) => book.userRules.includes(rule)) }, WHOLE),
    ...verdictsOf({ workspaces: forAll.find((rule) => book.workspaceRules.includes(rule)) }, WHOLE),
    isOpen ? WHOLE : ask('It asks for the whole network of this machine.'),
  ];
}

const WHOLE = allow('The network is allowed in the sandbox.');

function judgeWanted(
  host: string,
  all: readonly string[],
  book: Rulebook,
  { trustsNetwork = false }: NetworkSurroundings,
): Verdict[] {
  const subject = wanted(host);
  const isNamed = isNamedByHand(subject, book);
  if (isAddress(subject.name) && !isNamed) return [deny(noAddress(host))];
  const builtIn = trustsNetwork ? WHOLE : ask(`It asks for the network: ${hostWords(all)}.`);
  return verdictsOf(rulesAbout(subject, book), builtIn);
}

function noAddress(host: string): string {
  return `${host} is an address and no name, and only a rule that the machine's owner writes opens one.`;
}

/** The verdict on a connection of a running command. */
export type ConnectionVerdict =
  | { readonly isOpen: true; readonly reach: 'public' | 'any' }
  | { readonly isOpen: false; readonly reason: string };

/**
 * A rule that forbids holds whatever was granted. One that asks holds unless the host itself was granted: then a person
 * was asked. `isDistrusted`: nothing but the grant opens a host.
 */
export function judgeConnection(
  target: HostPort,
  granted: readonly string[],
  book: Rulebook,
  { trustsNetwork = false, isDistrusted = false },
): ConnectionVerdict {
  const subject = { name: target.host, port: target.port };
  const name = hostText(target);
  const rules = rulesAbout(subject, book);
  const grants = granted.filter((host) => isCovered(subject, host));
  const isExact = grants.some((host) => !host.includes('*'));
  const builtIn =
    grants.length > 0 || (trustsNetwork && !isDistrusted) ? WHOLE : ask('It was not asked for.');
  const { decision } = strictestOf(verdictsOf(rules, builtIn));
  const isNamed = isNamedByHand(subject, book);
  if (decision === 'deny') return closed(`The rules of this machine forbid ${name}.`);
  if (isAddress(target.host) && !isNamed) return closed(noAddress(name));
  const isOpen = isDistrusted ? grants.length > 0 : decision === 'allow' || isExact;
  if (!isOpen) {
    return closed(
      `${name} is closed to this command: run it again with "permissions": ["network"] and "hosts": ["${name}"].`,
    );
  }
  // TLS proves that it is the registry, wherever the name leads.
  const isProven = isRegistry(target.host) && target.port === HTTPS_PORT;
  return { isOpen, reach: isNamed || isProven ? 'any' : 'public' };
}

const HTTPS_PORT = 443;

function closed(reason: string): ConnectionVerdict {
  return { isOpen: false, reason };
}

/** A host of a connection, or a pattern of hosts that a command wants; without a port it wants the usual ones. */
interface HostSubject {
  readonly name: string;
  readonly port: number | undefined;
}

function wanted(host: string): HostSubject {
  const { name, port } = splitPattern(host);
  return { name, port: port === undefined ? undefined : Number(port) };
}

function rulesAbout(subject: HostSubject, book: Rulebook): DecidingRules {
  const holds = (rule: Rule) =>
    isAboutNetwork(rule) &&
    (rule.decision === 'allow'
      ? isCovered(subject, rule.pattern)
      : isTouched(subject, rule.pattern));
  return rulesThatDecide(book, holds);
}

function isAboutNetwork({ tool, definition }: Rule): boolean {
  return definition === undefined && matchesWildcard(tool, NETWORK);
}

/** Whether a pattern opens all of the subject. Without a port it opens the usual ones. */
function isCovered({ name, port }: HostSubject, pattern: string): boolean {
  const own = splitPattern(pattern);
  // In another pattern only a star stands for all that a star stands for.
  if (name.includes('*') && /[?[]/.test(own.name)) return false;
  return matchesWildcard(own.name, name) && isPortCovered(port, own.port);
}

function isPortCovered(port: number | undefined, covering: string | undefined): boolean {
  if (covering === '*') return true;
  if (covering !== undefined) return port === Number(covering);
  return port === undefined || USUAL_PORTS.includes(port);
}

/** Whether a pattern that forbids or asks is about the subject. Without a port it is about all of them. */
function isTouched({ name, port }: HostSubject, pattern: string): boolean {
  const own = splitPattern(pattern);
  const isPort = own.port === undefined || own.port === '*' || port === undefined;
  return matchesWildcard(own.name, name) && (isPort || port === Number(own.port));
}

/**
 * Whether a rule that the owner wrote, and that no answer made, allows the subject by its own name. A wildcard names
 * nothing: others may make names below a domain, and choose the addresses that those lead to.
 */
function isNamedByHand(subject: HostSubject, { userRules }: Rulebook): boolean {
  return userRules.some(({ decision, answered, pattern, ...rule }) => {
    const isName = !/[*?]/.test(splitPattern(pattern).name);
    const isOwn = decision === 'allow' && answered === undefined && rule.tool === NETWORK;
    return isOwn && isName && isCovered(subject, pattern);
  });
}
