/** A measured figure, and its bounds. */

export type Unit = 'ms' | 'us' | 'rows' | 'bytes' | 'KiB' | 'MB' | 'events' | 'requests' | '%';

export interface Figure {
  readonly what: string;
  readonly unit: Unit;
  /** The figure of the bare Worker, or of another reference that the figure's text names; null without one. */
  readonly bare: number | null;
  /** The figure of the shape without its content (bench/edge/shape.ts), where it is measured. */
  readonly floor?: number;
  /** Null if this machine cannot measure it. */
  readonly ours: number | null;
  readonly target?: Target;
  /** Figures of other systems, as text; see {@link PEERS_NOTE}. */
  readonly peers?: Peers;
}

/** Bounds that the figure must keep; both are inclusive. */
export interface Target {
  /** The largest ratio of `ours` to `bare`. */
  readonly maxRatio?: number;
  /** The largest `ours`, in the figure's unit. */
  readonly max?: number;
}

export interface Peers {
  readonly aiChatAgent?: string;
  readonly opencode?: string;
}

export const PEERS_NOTE =
  'AIChatAgent (Cloudflare) and opencode: measured earlier on this kind of machine, not in this run.';

/** Null if one of the figures is missing, or if `bare` is 0. */
export function ratioOf({ bare, ours }: Figure): number | null {
  return bare && ours !== null ? ours / bare : null;
}

/** `short` if a bound is broken; null without a bound, or without a figure to compare. */
export function verdictOf(figure: Figure): 'ok' | 'short' | null {
  const { target, ours } = figure;
  if (!target || ours === null) return null;
  const ratio = ratioOf(figure);
  const { maxRatio = Number.POSITIVE_INFINITY, max = Number.POSITIVE_INFINITY } = target;
  return ours <= max && (ratio ?? 0) <= maxRatio ? 'ok' : 'short';
}
