/** A measured figure, and what it is held against. */

export type Unit = 'ms' | 'us' | 'rows' | 'bytes' | 'MB' | 'events' | 'requests';

export interface Figure {
  readonly what: string;
  readonly unit: Unit;
  /** The same for the bare Worker, or for what the figure's words name instead; null where there is no such thing. */
  readonly bare: number | null;
  /** Null where this machine cannot tell. */
  readonly ours: number | null;
  readonly target?: Target;
  /** Of other systems, in words; see {@link PEERS_NOTE}. */
  readonly peers?: Peers;
}

/** Bounds that are all to be kept; both are inclusive. */
export interface Target {
  /** Of ours to bare. */
  readonly maxRatio?: number;
  /** Of ours, in the figure's unit. */
  readonly max?: number;
}

export interface Peers {
  readonly aiChatAgent?: string;
  readonly opencode?: string;
}

export const PEERS_NOTE =
  'AIChatAgent (Cloudflare) and opencode: measured earlier on this kind of machine, not in this run.';

/** Null without both figures, or against nothing. */
export function ratioOf({ bare, ours }: Figure): number | null {
  return bare && ours !== null ? ours / bare : null;
}

/** `short` where a bound is broken; null where there is none, or nothing to hold against it. */
export function verdictOf(figure: Figure): 'ok' | 'short' | null {
  const { target, ours } = figure;
  if (!target || ours === null) return null;
  const ratio = ratioOf(figure);
  const { maxRatio = Number.POSITIVE_INFINITY, max = Number.POSITIVE_INFINITY } = target;
  return ours <= max && (ratio ?? 0) <= maxRatio ? 'ok' : 'short';
}
