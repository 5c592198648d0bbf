/** Addresses as clients write them, and addresses that lead nowhere. */
import type { Random } from './random.ts';

export function queryText(query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

/** Half a character has no form in an address, and a whole one must not be cut. */
export function encodePart(text: string): string {
  return encodeURIComponent(text.toWellFormed()).slice(0, MAX_PART_CHARS).replace(/%.?$/, '');
}

/** Longer ones are refused by whatever stands before the API. */
const MAX_PART_CHARS = 4_000;

/** A request to an address that the API does not have. */
export function unknownPath(random: Random): { fault: string; method: string; path: string } {
  const path = random.pick([
    '/',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v2/me',
    '/api/v1/conversations/',
    '/api/v1//me',
    '/api/v1/me/..%2f..%2fhealth',
    '/api/v1/%00',
    '/api/v1/%E0%A4%A',
    '/api/v1/constructor',
    '/v1',
    '/v1/embeddings',
    '/v1/models/',
    '/.env',
    `/${'a/'.repeat(500)}`,
    `/api/v1/${'x'.repeat(6_000)}`,
  ]);
  const method = random.pick(['GET', 'POST', 'DELETE']);
  return { fault: 'a path that is not there', method, path };
}
