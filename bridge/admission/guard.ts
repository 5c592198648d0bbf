/** What can object to a call beside the owner's rules. */

import type { ToolFactsHere } from '../../packages/host/index.ts';
import type { Metadata } from '../../shared/wire/documents.ts';
import type { Verdict } from './verdict.ts';

/** A call before the rules judge it. */
interface GuardedCall {
  readonly definition: ToolFactsHere;
  /** As the tool means them. */
  readonly args: Metadata;
  /** The folder of the call. */
  readonly root: string;
  readonly callId: string;
  readonly conversationId: string;
  readonly run?: string | undefined;
  readonly isPrivate?: true | undefined;
}

/**
 * Undefined where nothing is against the call. The stricter of this verdict and of the rules' counts, so guards can run in
 * any order. Called once for a call. Rejects only when the signal aborts.
 */
export type CallGuard = (call: GuardedCall, signal: AbortSignal) => Promise<Verdict | undefined>;
