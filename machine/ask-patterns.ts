/** Shows a person the patterns of a yes that lasts, and lets the person change each. */
import { patternProblem, problemWords } from '../shared/shown/pattern-problem.ts';
import { inOneLine, inPlainSight } from '../shared/text/plain-sight.ts';
import { hostsIn } from '../shared/tools/network-permission.ts';
import { isRegistry } from '../shared/tools/registries.ts';
import type { Proposal } from '../shared/wire/approvals.ts';

/** A pattern that the person keeps or changes. */
export interface AskedPattern {
  readonly pattern: string;
  /** What of the call it is about, such as `the command npm test`. In plain sight. */
  readonly subject: string;
  /** `1 of 2`; empty for the only one. */
  readonly place: string;
  /** What the person wrote before for it, and why that is no pattern of the subject. */
  readonly refused?: { readonly typed: string; readonly why: string };
}

/** The patterns, one a line; undefined without an answer. An empty answer takes the pattern as it is. */
export async function askPatterns(
  ask: (asked: AskedPattern) => Promise<string | undefined>,
  proposal: Proposal,
  patterns: string,
): Promise<string | undefined> {
  // The rule of a server's tool is for that tool.
  if (proposal.kind === 'call' && proposal.offer) return patterns;
  const kind = kindOf(proposal);
  // There is nothing to widen in the name of a registry, and there are ten.
  const isFixed = (pattern: string) => kind === 'host' && isRegistry(pattern);
  const all = patterns.split('\n');
  const open = all.filter((pattern) => !isFixed(pattern));
  const chosen = new Map<string, string>();
  for (const [index, pattern] of open.entries()) {
    const subject = `the ${kind} ${inOneLine(pattern.replace(/\[([*?])\]/g, '$1'))}`;
    const place = open.length === 1 ? '' : `${index + 1} of ${open.length}`;
    let refused: AskedPattern['refused'];
    do {
      const typed = (await ask({ pattern, subject, place, ...(refused && { refused }) }))?.trim();
      if (typed === undefined) return undefined;
      const problem = typed === '' ? undefined : patternProblem(proposal, pattern, typed);
      refused = problem && { typed, why: problemWords(problem) };
      if (!problem) chosen.set(pattern, typed);
    } while (refused);
  }
  return all.map((pattern) => chosen.get(pattern) || pattern).join('\n');
}

/** The question of a terminal that adds lines. */
export function patternQuestion({ pattern, subject, place, refused }: AskedPattern): string {
  if (refused) return `${refused.why} Another pattern (Enter: ${inPlainSight(pattern)}): `;
  const which = place === '' ? '' : `${place}, ${subject}: `;
  return `${which}For ${inPlainSight(pattern)} (Enter), or for this pattern (* is any text): `;
}

function kindOf(proposal: Proposal): 'command' | 'host' | 'path' | 'site' {
  if (proposal.kind === 'edit') return 'path';
  if (proposal.kind !== 'command') return 'site';
  return hostsIn(proposal.permissions).length > 0 ? 'host' : 'command';
}
