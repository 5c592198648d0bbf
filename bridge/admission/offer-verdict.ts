/** Decides about tools that the owner's servers offer. Pure. */

import type { ToolFactsHere } from '../../packages/host/index.ts';
import { matchesWildcard } from '../../shared/text/wildcard.ts';
import { isFor } from './rule-names.ts';
import { findDecidingRules, pathSubject, type Rulebook, verdictsOf } from './rulebook.ts';
import { ask, strictestOf, type Verdict } from './verdict.ts';

/** Asks a person, whatever the server claims about its tool, unless the owner's rules allow this very definition. */
export function judgeOffer(tool: ToolFactsHere, book: Rulebook): Verdict {
  const builtIn = ask(
    `${subjectOf(tool)} is a tool of a server that nothing confines. Its definition is ${tool.claims?.digest}.${idleRule(tool, book)}`,
  );
  return strictestOf(verdictsOf(decidingRules(tool, book), builtIn));
}

/** Whether the owner believes the server's claims about the tool: that it only reads, or may be called again. */
export function isTrusted(tool: ToolFactsHere, book: Rulebook): boolean {
  return tool.claims !== undefined && decidingRules(tool, book).owners?.decision === 'allow';
}

function decidingRules(tool: ToolFactsHere, book: Rulebook) {
  return findDecidingRules(book, tool, pathSubject(subjectOf(tool)));
}

/** A sentence on a rule of the owner that was meant for the tool and does not hold. */
function idleRule(tool: ToolFactsHere, { userRules }: Rulebook): string {
  const definition = tool.claims?.digest;
  const idle = userRules.findLast(
    (rule) =>
      rule.decision === 'allow' &&
      rule.definition !== definition &&
      isFor({ ...rule, definition }, tool) &&
      matchesWildcard(rule.pattern, subjectOf(tool)),
  );
  if (idle === undefined) return '';
  const why = idle.definition === undefined ? 'names no definition' : 'is for another definition';
  return ` Your rule "allow ${idle.tool}" ${why}, so it does not hold.`;
}

/** The text that rules' patterns are matched against. */
function subjectOf({ origin }: ToolFactsHere): string {
  return `${origin?.server}/${origin?.tool}`;
}
