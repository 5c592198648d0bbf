/** Decides which web pages the bridge may read unasked. */
import type { Rulebook } from './rulebook.ts';
import type { Rule } from './rules.ts';
import { matchesWildcard } from './wildcard.ts';

/**
 * Only a page that a rule of the owner for the category `web` allows by its pattern, such as `https://docs.example.com/*`,
 * and that no stricter rule of the workspace matches. `url` must be normalised.
 */
export function mayFetch(url: string, { userRules, workspaceRules }: Rulebook): boolean {
  const holds = ({ tool, pattern }: Rule) =>
    matchesWildcard(tool, 'web') && matchesWildcard(pattern, url);
  const isHeld = workspaceRules.some((rule) => rule.decision !== 'allow' && holds(rule));
  return !isHeld && userRules.findLast(holds)?.decision === 'allow';
}
