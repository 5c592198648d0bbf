/** Finds the rules that decide about a path or a command. */

import { matchesWildcard } from '../../shared/text/wildcard.ts';
import { isFor, type NamedTool } from './rule-names.ts';
import type { Rule } from './rules.ts';
import { type Verdict, verdictBy } from './verdict.ts';

export interface Rulebook {
  /** The machine owner's rules. The last rule that matches decides, and overrides the built-in verdict. */
  readonly userRules: readonly Rule[];
  /** The repository's rules. Others may have written them, so they can only make a decision stricter. */
  readonly workspaceRules: readonly Rule[];
}

/** The path or command that rules match. */
export interface Subject {
  /** The text as written. */
  readonly text: string;
  /** Other names of the same thing. Only rules that forbid or ask apply to them. */
  readonly readings: readonly string[];
  /** Whether a rule that allows can apply. */
  readonly canBeAllowed: boolean;
  /** The text without wrappers that change nothing, as a question shows it. Only the rules of answers apply to it. */
  readonly bare?: string;
  /** Whether another command writes the input of this one. An answer was about the command without it. */
  readonly isFed?: boolean;
}

export function pathSubject(name: string, readings: readonly string[] = []): Subject {
  return { text: name, readings, canBeAllowed: true };
}

/** The rules that decide: at most one of the owner's, and one of the workspace. */
export interface DecidingRules {
  readonly owners?: Rule | undefined;
  readonly workspaces?: Rule | undefined;
}

/** `toReading` writes a pattern in the same form as the readings. */
export function findDecidingRules(
  book: Rulebook,
  tool: NamedTool,
  subject: Subject,
  toReading: (pattern: string) => string = (pattern) => pattern,
): DecidingRules {
  return rulesThatDecide(book, (rule) => isFor(rule, tool) && matches(rule, subject, toReading));
}

/**
 * The last rules that hold. But an answer's rule never takes the place of one that the owner wrote and that forbids: it
 * lifts questions only.
 */
export function rulesThatDecide(
  { userRules, workspaceRules }: Rulebook,
  holds: (rule: Rule) => boolean,
): DecidingRules {
  const workspaces = workspaceRules.filter(isStrict).findLast(holds);
  const last = userRules.findLast(holds);
  if (last?.answered === undefined) return { owners: last, workspaces };
  const own = userRules.findLast((rule) => rule.answered === undefined && holds(rule));
  return { owners: own?.decision === 'deny' ? own : last, workspaces };
}

/** The verdicts of the deciding rules. Where the owner has none, the built-in verdict takes its place. */
export function verdictsOf({ owners, workspaces }: DecidingRules, builtIn: Verdict): Verdict[] {
  return [
    owners === undefined ? builtIn : verdictBy(owners, 'this machine'),
    ...(workspaces === undefined ? [] : [verdictBy(workspaces, 'the workspace')]),
  ];
}

/** The rules for a tool that forbid or ask. */
export function strictRulesFor(book: Rulebook, tool: NamedTool): Rule[] {
  return [...book.userRules, ...book.workspaceRules].filter(
    (rule) => isStrict(rule) && isFor(rule, tool),
  );
}

function isStrict({ decision }: Rule): boolean {
  return decision !== 'allow';
}

function matches(
  rule: Rule,
  { text, readings, canBeAllowed, bare = text, isFed = false }: Subject,
  toReading: (pattern: string) => string,
): boolean {
  const isMatch = matchesWildcard(rule.pattern, text);
  if (rule.answered !== undefined) {
    return canBeAllowed && !isFed && (isMatch || matchesWildcard(rule.pattern, bare));
  }
  if (!isStrict(rule)) return isMatch && canBeAllowed;
  const pattern = toReading(rule.pattern);
  return isMatch || readings.some((reading) => matchesWildcard(pattern, reading));
}
