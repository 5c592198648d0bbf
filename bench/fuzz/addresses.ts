/** Makes valid URLs, and URLs that the API does not have. */
import type { Random } from './random.ts';

export function queryText(query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

/** Replaces lone surrogates, which no URL can contain, and cuts no percent escape in two. */
export function encodePart(text: string): string {
  return encodeURIComponent(text.toWellFormed()).slice(0, MAX_PART_CHARS).replace(/%.?$/, '');
}

/** Servers in front of the API refuse longer parts. */
const MAX_PART_CHARS = 4_000;

/** A request to a URL that the API does not have. */
export function unknownPath(random: Random): { fault: string; method: string; path: string } {
  const path = random.pick([
    '/',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v2/me',
    '/api/v1/conversations/%2F',
    '/api/v1/me/..%2f..%2fhealth',
    '/api/v1/%00',
    '/api/v1/%E0%A4%A',
    '/api/v1/constructor',
    '/v1',
    '/v1/embeddings',
    '/.env',
    `/${'a/'.repeat(500)}`,
    `/api/v1/${'x'.repeat(6_000)}`,
  ]);
  const method = random.pick(['GET', 'POST', 'DELETE']);
  return { fault: 'a path that is not there', method, path };
}
