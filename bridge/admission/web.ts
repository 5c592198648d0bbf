/** Decides which web pages the bridge may read, and which searches it may make. */

import { matchesWildcard } from '../../shared/text/wildcard.ts';
import { webFetch } from '../../shared/tools/web-fetch.ts';
import { webSearch } from '../../shared/tools/web-search.ts';
import { canonicalPattern, canonicalUrl, readingsOf } from '../web/canonical.ts';
import { isFor } from './rule-names.ts';
import {
  type DecidingRules,
  findDecidingRules,
  pathSubject,
  type Rulebook,
  rulesThatDecide,
  verdictsOf,
} from './rulebook.ts';
import type { Rule } from './rules.ts';
import { allow, ask, deny, strictestOf, type Verdict } from './verdict.ts';

/** Whether a site, a host with its port, may be read without a question where no rule is about it. */
export type IsSiteAllowed = (site: string) => boolean;

/**
 * The verdict on a page that the tool wants. Without a rule a person is asked once for each site and conversation. A rule
 * that asks or forbids holds whatever a person has allowed.
 */
export function judgePage(address: string, book: Rulebook, isAllowed: IsSiteAllowed): Verdict {
  const url = canonicalUrl(address);
  if (isOtherName(url)) return deny('a dot ends the name of its host: leave the dot out.');
  const builtIn = isAllowed(url.host)
    ? allow('The site is allowed.')
    : ask(`No rule allows pages of ${url.host}. A yes counts for this site in this conversation.`);
  return strictestOf(
    verdictsOf(
      rulesAbout(url, book, (rule) => isFor(rule, webFetch)),
      builtIn,
    ),
  );
}

/** The verdict on a search: the owner has chosen the service. */
export function judgeSearch(query: string, book: Rulebook): Verdict {
  const builtIn = allow('The owner has set up the search.');
  return strictestOf(verdictsOf(findDecidingRules(book, webSearch, pathSubject(query)), builtIn));
}

/**
 * Whether a page may be read for a message, where no one is asked. Only a page that a rule of the owner for the category
 * `web` allows by its pattern, such as `https://docs.example.com/*`, and that no stricter rule of the workspace matches.
 */
export function mayFetch(address: string, book: Rulebook): boolean {
  const url = canonicalUrl(address);
  if (isOtherName(url)) return false;
  const rules = rulesAbout(url, book, ({ tool }) => matchesWildcard(tool, 'web'));
  return rules.workspaces === undefined && rules.owners?.decision === 'allow';
}

/** Whether a rule with the pattern, which allows pages, is about the address. */
export function allowsPage(pattern: string, address: string): boolean {
  return matchesSite(canonicalPattern(pattern), canonicalUrl(address).href);
}

/** The same site by another name, which rules that forbid it do not match. */
function isOtherName({ hostname }: URL): boolean {
  return hostname.endsWith('.');
}

function rulesAbout(
  { href: url }: URL,
  book: Rulebook,
  isAbout: (rule: Rule) => boolean,
): DecidingRules {
  const readings = readingsOf(url);
  const holds = (rule: Rule) => {
    if (!isAbout(rule)) return false;
    const canonical = canonicalPattern(rule.pattern);
    if (rule.decision === 'allow') return matchesSite(canonical, url);
    return readings.some((reading) => matchesWildcard(canonical, reading));
  };
  return rulesThatDecide(book, holds);
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
