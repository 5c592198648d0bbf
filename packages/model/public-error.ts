/** Makes the error that a client sees of an upstream's error. No other way leads it out of the Worker. Pure. */
import type { UpstreamError } from './errors.ts';
import { withoutSecrets } from './secrets.ts';

/** The error with a message that may be shown: without words that could hold part of a key. */
export function publicError(
  { words: _, ...error }: UpstreamError,
  secrets: readonly string[],
): UpstreamError {
  const message = isAboutKeys(error)
    ? refusedKey(error.status)
    : withoutSecrets(error.message, secrets);
  return { ...error, message };
}

/** Whether the server refuses the key, or could show a part of it. */
export function isAboutKeys({ status, code, type, message }: UpstreamError): boolean {
  if (status !== null && KEY_STATUSES.has(status)) return true;
  return [code, type, message].some((words) => words !== null && KEY_WORDS.test(words));
}

/** Unauthorized, forbidden, and a proxy's authentication required. */
const KEY_STATUSES: ReadonlySet<number> = new Set([401, 403, 407]);

const KEY_WORDS =
  /\b(?:api|access|secret|private|auth\w*)[\s_-]?(?:keys?|tokens?)\b|authori[sz]ation|authenticat|credential|\bbearer\b|password/i;

function refusedKey(status: number | null): string {
  const how = status === null ? '' : ` (HTTP ${status})`;
  return `The model server refuses access with the configured key${how}: it must be valid there for this model. \`drawbridge config model\` on the server's machine sets another.`;
}
