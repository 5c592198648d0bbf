/** Shows a person the patterns of a yes that lasts, and lets the person change each. */
import { inPlainSight } from '../shared/text/plain-sight.ts';
import { hostsIn } from '../shared/tools/network-permission.ts';
import { isRegistry } from '../shared/tools/registries.ts';
import type { Proposal } from '../shared/wire/approvals.ts';

/**
 * The patterns, one on each line. Undefined without an answer. `ask` as in `ask-form.ts`; an empty answer takes the
 * pattern as it is, and a field may begin with it.
 */
export async function askPatterns(
  ask: (words: string, pattern: string) => Promise<string | undefined>,
  proposal: Proposal,
  patterns: string,
): Promise<string | undefined> {
  // The rule of a server's tool is for that tool.
  if (proposal.kind === 'call' && proposal.offer) return patterns;
  const isNetwork = proposal.kind === 'command' && hostsIn(proposal.permissions).length > 0;
  const chosen: string[] = [];
  for (const pattern of patterns.split('\n')) {
    // There is nothing to widen in the name of a registry, and there are ten.
    if (isNetwork && isRegistry(pattern)) {
      chosen.push(pattern);
      continue;
    }
    const shown = inPlainSight(pattern);
    const typed = await ask(`For ${shown} (Enter), or for this pattern (* is any text): `, pattern);
    if (typed === undefined) return undefined;
    chosen.push(typed.trim() || pattern);
  }
  return chosen.join('\n');
}
