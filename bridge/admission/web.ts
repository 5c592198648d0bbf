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

/**
 * A star in the name of a site reaches neither into the path nor over a colon: anyone can have a path, a user name or a
 * port that ends like the site. Without a slash the pattern names a site, and a star at its end stands for all pages.
 */
function matchesSite(pattern: string, url: string): boolean {
  if (/^\*+$/.test(pattern)) return true;
  const { protocol, username, password, host, pathname, search } = new URL(url);
  const [, scheme = '*', site = '', path = site.endsWith('*') ? '*' : '/'] =
    /^(?:([^/]*):\/\/|(?=\*))([^/]*)(\/.*)?$/s.exec(pattern) ?? ['', ''];
  if (username !== '' || password !== '') return false;
  const [names, ownNames] = [site.split(':'), host.split(':')];
  return (
    matchesWildcard(scheme, protocol.slice(0, -1)) &&
    names.length === ownNames.length &&
    names.every((name, at) => matchesWildcard(name, ownNames[at] ?? '')) &&
    matchesWildcard(path, pathname + search)
  );
}
