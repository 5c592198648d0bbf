/** Checks a pattern where a person writes it, before it is signed. The bridge decides. */
import { nameInLine } from '../text/plain-sight.ts';
import { literalStart, matchesWildcard, splitPattern } from '../text/wildcard.ts';
import { hostsIn } from '../tools/network-permission.ts';
import type { Proposal } from '../wire/approvals.ts';

/** `count`: how many lines of patterns it takes. `mismatch`: what the pattern of a line does not match. */
export type PatternProblem =
  | { readonly type: 'count'; readonly count: number }
  | { readonly type: 'mismatch'; readonly text: string };

/** What is surely wrong with the patterns in place of the `standard` ones, which match what the question shows alone. */
export function patternProblem(
  proposal: Proposal,
  standard: string,
  patterns: string,
): PatternProblem | undefined {
  const shown = standard.split('\n');
  const given = patterns.split('\n');
  if (given.length !== shown.length) return { type: 'count', count: shown.length };
  const wrong = shown.find((own, index) => !fits(proposal, own, given[index] ?? ''));
  return wrong === undefined ? undefined : { type: 'mismatch', text: literalStart(wrong) };
}

function fits(proposal: Proposal, own: string, pattern: string): boolean {
  if (pattern === own) return true;
  if (proposal.kind === 'call') return proposal.offer === undefined; // Of a page it depends on the address.
  const isHost = proposal.kind === 'command' && hostsIn(proposal.permissions).length > 0;
  if (!isHost) return matchesWildcard(pattern, literalStart(own));
  const [host, wanted] = [splitPattern(own), splitPattern(pattern)];
  const below = /^\*(\.[^*?[]+\.[^*?[]+)$/.exec(wanted.name)?.[1];
  return below !== undefined && host.port === wanted.port && host.name.endsWith(below);
}

/** In one sentence. */
export function problemWords(problem: PatternProblem): string {
  return problem.type === 'count'
    ? `It takes ${problem.count} patterns, each on a line of its own, in the order of the question.`
    : `The pattern does not match ${nameInLine(problem.text)}.`;
}
