/** The API's errors in one line for a person. */
import type { ClientError } from '../client/error.ts';
import { REQUEST_LIMITS } from '../shared/limits.ts';
import { printableLine } from '../shared/plain-sight.ts';

/** The code, and what it means here. */
export function describeError({ code, message }: ClientError): string {
  return printableLine(`error ${code}: ${message}`, REQUEST_LIMITS.maxReasonChars);
}
