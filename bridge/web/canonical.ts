/** The one form in which a web address is judged and fetched. */
import { domainToASCII } from 'node:url';

/**
 * The URL without its fragment and an empty query. Letters, digits and the like are written as they are, and not as
 * `%73`. `URL` sees to the rest: host in lower case and Punycode, no default port, no `.` and `..`.
 */
export function canonicalUrl(address: string): URL {
  const url = new URL(address);
  url.hash = '';
  if (url.search === '') url.search = '';
  const plain = new URL(decodeUnreserved(url.href));
  return plain.href === url.href ? plain : canonicalUrl(plain.href);
}

/** A pattern of a rule in the same form, as far as its wildcards leave one. */
export function canonicalPattern(pattern: string): string {
  const [, scheme = '', site = '', rest = ''] =
    /^([^/]*:\/\/|)([^/]*)(.*)$/s.exec(decodeUnreserved(pattern)) ?? [];
  const ports = scheme.toLowerCase() === 'http://' ? /:80$/ : /:443$/;
  const host = (scheme === '' ? site : site.replace(ports, '')).toLowerCase();
  return `${scheme.toLowerCase()}${domainToASCII(host) || host}${rest}`;
}

/**
 * What servers may take the address for: with all escapes decoded, however often, and without doubled slashes. A rule
 * that forbids holds for each of them.
 */
export function readingsOf(url: string): string[] {
  const readings = new Set([url]);
  // A set may grow while it is gone through.
  for (const reading of readings) {
    readings.add(reading.replace(ESCAPE, (_, hex: string) => characterOf(hex)));
    readings.add(reading.replaceAll('\\', '/').replace(/(?<!:)\/{2,}/g, '/'));
    if (readings.size > MAX_READINGS) break;
  }
  return [...readings];
}

const MAX_READINGS = 16;
const ESCAPE = /%([0-9a-f]{2})/gi;

function decodeUnreserved(text: string): string {
  return text.replace(ESCAPE, (escaped, hex: string) => {
    const character = characterOf(hex);
    return /[\w.~-]/.test(character) ? character : escaped.toUpperCase();
  });
}

function characterOf(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
