/**
 * The part of the workspace that a search may show. It hides paths that the rules forbid or ask about, even their
 * names.
 */

import { nameInLine } from '../../shared/text/plain-sight.ts';
import { literalStart } from '../../shared/text/wildcard.ts';
import type { ToolFacts } from '../../shared/tools/definition.ts';
import {
  type DecidingRules,
  findDecidingRules,
  pathSubject,
  type Rulebook,
  strictRulesFor,
} from './rulebook.ts';
import type { Rule } from './rules.ts';
import { RULE_LIMITS } from './shell/limits.ts';

export interface Visibility {
  /** Whether a call may show the path; `name` is relative to the workspace. */
  readonly mayShow: (name: string) => boolean;
  /**
   * A note for the model about the paths that a search leaves out. It does not say whether any such path exists.
   * Undefined where no rule could make the search leave out a path.
   */
  readonly note: string | undefined;
}

interface SearchLook {
  readonly tool: ToolFacts;
  /** The folders that the call looks at, relative to the workspace. */
  readonly folders: readonly string[];
  readonly book: Rulebook;
  /** The rules about the call's own path. Their questions were answered before the call runs. */
  readonly answered: readonly DecidingRules[];
}

/**
 * A search does not ask about each path that it finds. A person could not see what the question is about, and a search
 * over everything would always ask. The search leaves out these paths and says so. A call that names one asks.
 */
export function visibilityFor({ tool, folders, book, answered }: SearchLook): Visibility {
  const open = new Set(answered.flatMap(present));
  const isOpen = (rule: Rule) =>
    rule.decision === 'allow' || (rule.decision === 'ask' && open.has(rule));
  const closing = strictRulesFor(book, tool).filter((rule) => !isOpen(rule));
  return {
    mayShow: (name) =>
      closing.length === 0 ||
      present(findDecidingRules(book, tool, pathSubject(name))).every(isOpen),
    note: noteOn(
      tool.listsPaths
        ? closing.filter((rule) => folders.some((folder) => reaches(rule, folder)))
        : [],
    ),
  };
}

/** For the whole workspace, without any answered question. */
export function visibilityInAll(tool: ToolFacts, book: Rulebook): Visibility {
  return visibilityFor({ tool, folders: ['.'], book, answered: [] });
}

function present({ owners, workspaces }: DecidingRules): Rule[] {
  return [owners, workspaces].filter((rule) => rule !== undefined);
}

/** Whether a rule can match a path in the folder, judged by the start of its pattern. */
function reaches({ pattern }: Rule, folder: string): boolean {
  const beginning = literalStart(pattern);
  const inFolder = folder === '.' ? '' : `${folder}/`;
  return inFolder.startsWith(beginning) || beginning.startsWith(inFolder);
}

function noteOn(rules: readonly Rule[]): string | undefined {
  if (rules.length === 0) return undefined;
  const sentences = [
    describe(rules, 'deny', 'Left out, because the rules of this machine deny it'),
    describe(
      rules,
      'ask',
      'Left out, because the person wants to be asked: call a tool with such a path',
    ),
  ];
  return `(${sentences.filter((sentence) => sentence !== '').join(' ')})`;
}

function describe(rules: readonly Rule[], decision: Rule['decision'], words: string): string {
  const { maxNamedPatterns } = RULE_LIMITS;
  const patterns = new Set(
    rules.filter((rule) => rule.decision === decision).map((rule) => rule.pattern),
  );
  if (patterns.size === 0) return '';
  const more = patterns.size > maxNamedPatterns ? ', ...' : '';
  return `${words}: ${[...patterns].slice(0, maxNamedPatterns).map(nameInLine).join(', ')}${more}.`;
}
