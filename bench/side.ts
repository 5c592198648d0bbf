/** One of the two that a measurement compares: Drawbridge, or the bare Worker. */
import type { WranglerConfig } from '../local/runtime/wrangler-config.ts';
import type { Answered } from './client.ts';
import type { Footprint } from './footprint.ts';
import type { ScriptName } from './scripts.ts';
import type { Upstream } from './upstream-process.ts';

/** What a side is started on. */
export interface Ground {
  readonly upstream: Upstream;
  /** Of this repository: the bare Worker runs with the same date and flags. */
  readonly wrangler: WranglerConfig;
  /** Ends every request under way, and with them the measurement. */
  readonly signal: AbortSignal;
}

export interface Side {
  /** A conversation that exists, and that has had its first answer. */
  open(): Promise<Talk>;
  /** Of its workerd. Null where the system does not tell. */
  footprint(): Promise<Footprint | null>;
}

/** Asks for an answer by the script, in one conversation; one at a time. Every piece of it goes to `onText`. */
export type Talk = (script: ScriptName, onText?: (text: string) => void) => Promise<Answered>;
