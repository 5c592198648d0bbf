/** Why an answer stands still, in words. */
import { SECOND } from '../units.ts';
import type { ModelWaitState } from '../wire/documents.ts';

/** Without a full stop. `nowMs` is in Unix milliseconds. */
export function waitSentence({ reason, until }: ModelWaitState, nowMs: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - nowMs) / SECOND));
  return `${REASONS[reason]}; asking again in ${seconds} s`;
}

const REASONS = {
  rate_limited: 'The model server limits requests',
  unavailable: 'The model server does not answer at the moment',
} as const;
