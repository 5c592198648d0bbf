/** The one ladder after a refusal: what is changed before the request is sent again, or why it is not. Pure. */

import type { UpstreamError } from '../errors.ts';
import {
  badValueOf,
  type Concession,
  concessionTo,
  isUnknown,
  type RefusedForm,
} from './concessions.ts';
import { isFiltered, isOfRequest, isTooLong, pathOf, wordsOf } from './refusal.ts';

/** The request as far as the ladder changes it. */
interface TriedRequest extends RefusedForm {
  readonly hasTools: boolean;
  /** What can be done with what was said; undefined for a request whose words nobody can change, such as a title's. */
  readonly history?: RefusedHistory | undefined;
}

export interface RefusedHistory {
  /** Whether it takes more than half of the model's window, by estimate. */
  readonly isMostlyFull: boolean;
  /** Whether it was made shorter for this very turn. */
  readonly wasShortened: boolean;
}

/**
 * `setting`: a setting is left out, renamed or lowered. `shorten`: what was said is made to fit; on suspicion where the
 * error gives no reason. `leave_out`: parts of it are left out. `end`: nothing helps. A `code` says what to tell the
 * person in place of the refusal.
 */
export type AfterRefusal =
  | { readonly type: 'setting'; readonly concession: Concession }
  | { readonly type: 'shorten'; readonly isSuspicion?: true }
  | { readonly type: 'leave_out' }
  | { readonly type: 'end'; readonly code?: 'MODEL_WITHOUT_TOOLS' }
  /** `field`: of the client's request. */
  | { readonly type: 'end'; readonly code: 'SETTING_REFUSED'; readonly field: string };

/** The steps in their order: a setting, the length, the length on suspicion, the parts. */
export function afterRefusal(error: UpstreamError, request: TriedRequest): AfterRefusal {
  const { hasTools, history } = request;
  if (hasTools && refusesTools(error)) return { type: 'end', code: 'MODEL_WITHOUT_TOOLS' };
  if (!isOfRequest(error) && !isLostItem(error)) return { type: 'end' };
  const field = isFiltered(error) ? undefined : badValueOf(error, request);
  if (field !== undefined) return { type: 'end', code: 'SETTING_REFUSED', field };
  const concession = isFiltered(error) ? null : concessionTo(error, request);
  if (concession) return { type: 'setting', concession };
  if (isTooLong(error)) return { type: 'shorten' };
  if (!history) return { type: 'end' };
  const isSuspect = history.isMostlyFull && !history.wasShortened && !isFiltered(error);
  return isSuspect ? { type: 'shorten', isSuspicion: true } : { type: 'leave_out' };
}

/** OpenAI answers 404 for an item that the request only names. */
function isLostItem({ status, message }: UpstreamError): boolean {
  return status === 404 && /\bitem\b/i.test(message);
}

/** Whether the model can call nothing, or its server was started without that. */
function refusesTools(error: UpstreamError): boolean {
  const { status } = error;
  if (status !== null && !WITHOUT_TOOLS.has(status)) return false;
  if (pathOf(error) === 'tools' && isUnknown(error)) return true;
  return NO_TOOLS.test(wordsOf(error));
}

const WITHOUT_TOOLS: ReadonlySet<number> = new Set([400, 404, 422]);

const NO_TOOLS =
  /(?:not|n't) (?:currently )?support (?:the )?(?:tools?|tool use|tool calling|function(?:s| calling))\b|\b(?:tools?|tool use|tool calling|function calling) (?:is|are) not supported|endpoints found that support tool use|--enable-auto-tool-choice/i;
