/** Decides which web pages the bridge may read unasked. */
import { canonicalPattern, canonicalUrl, readingsOf } from '../web/canonical.ts';
import type { Rulebook } from './rulebook.ts';
import type { Rule } from './rules.ts';
import { matchesWildcard } from './wildcard.ts';

/**
 * Only a page that a rule of the owner for the category `web` allows by its pattern, such as `https://docs.example.com/*`,
 * and that no stricter rule of the workspace matches.
 */
export function mayFetch(address: string, { userRules, workspaceRules }: Rulebook): boolean {
  const url = canonicalUrl(address).href;
  const readings = readingsOf(url);
  // The same site by another name, which rules that forbid it do not match.
  if (new URL(url).hostname.endsWith('.')) return false;
  const holds = ({ tool, pattern, decision }: Rule) => {
    if (!matchesWildcard(tool, 'web')) return false;
    const canonical = canonicalPattern(pattern);
    if (decision === 'allow') return matchesSite(canonical, url);
    return readings.some((reading) => matchesWildcard(canonical, reading));
  };
  const isHeld = workspaceRules.some((rule) => rule.decision !== 'allow' && holds(rule));
  return !isHeld && userRules.findLast(holds)?.decision === 'allow';
}

/** A star in the name of a site does not reach into the path: anyone can have a path that ends like the site. */
function matchesSite(pattern: string, url: string): boolean {
  const end = endOfSite(pattern);
  if (end < 0) return matchesWildcard(pattern, url);
  const start = endOfSite(url);
  return (
    matchesWildcard(pattern.slice(0, end), url.slice(0, start)) &&
    matchesWildcard(pattern.slice(end), url.slice(start))
  );
}

/** The place of the first slash behind the name; below 0 without one. */
function endOfSite(text: string): number {
  const scheme = text.indexOf('://');
  return text.indexOf('/', scheme < 0 ? 0 : scheme + '://'.length);
}
