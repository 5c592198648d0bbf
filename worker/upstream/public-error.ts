/** What a client is told of an upstream's error: nothing of it leaves the Worker in another way. Pure. */
import type { UpstreamError } from './errors.ts';
import { withoutSecrets } from './secrets.ts';

/**
 * The error with a message that may be shown. What is said about keys is not repeated at all: servers quote the key there,
 * whole, masked or in parts. Other words lose whatever could be part of a secret.
 */
export function publicError(error: UpstreamError, secrets: readonly string[]): UpstreamError {
  const message = isAboutKeys(error)
    ? refusedKey(error.status)
    : withoutSecrets(error.message, secrets);
  return { ...error, message };
}

function isAboutKeys({ status, code, type, message }: UpstreamError): boolean {
  if (status !== null && KEY_STATUSES.has(status)) return true;
  return [code, type, message].some((words) => words !== null && KEY_WORDS.test(words));
}

/** Who is asking is not known, or may not; a proxy's 407 is the same. */
const KEY_STATUSES: ReadonlySet<number> = new Set([401, 403, 407]);

const KEY_WORDS =
  /\b(?:api|access|secret|private|auth\w*)[\s_-]?(?:keys?|tokens?)\b|authori[sz]ation|authenticat|credential|\bbearer\b|password/i;

function refusedKey(status: number | null): string {
  const how = status === null ? '' : ` (HTTP ${status})`;
  return `The model server refuses access with the configured key${how}: the key must be one that is valid there for this model.`;
}
