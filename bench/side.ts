/** One of the two that a measurement compares: Drawbridge, or the bare Worker. */
import type { WranglerConfig } from '../local/runtime/wrangler-config.ts';
import type { Answered } from './client.ts';
import type { Footprint } from './footprint.ts';
import type { ScriptName } from './scripts.ts';
import type { Upstream } from './upstream-process.ts';

/** What a side needs to start. */
export interface Ground {
  readonly upstream: Upstream;
  /** The configuration of this repository. The bare Worker runs with the same date and flags. */
  readonly wrangler: WranglerConfig;
  /** Ends every open request, and the measurement. */
  readonly signal: AbortSignal;
}

export interface Side {
  /** Opens a conversation that has had its first answer. */
  open(): Promise<Talk>;
  /** The footprint of the side's workerd; null if the system does not say. */
  footprint(): Promise<Footprint | null>;
}

/** Asks for the script's answer in one conversation, one at a time. `onText` gets every piece of the answer. */
export type Talk = (script: ScriptName, onText?: (text: string) => void) => Promise<Answered>;
