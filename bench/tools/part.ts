/** The contract of the parts of `npm run bench:tools`. */
import type { Figure } from '../figure.ts';
import { median, percentile } from '../statistics.ts';

/** `ours` is the median of the samples, where there are many; `p95` is shown beside it. */
export interface ToolFigure extends Figure {
  readonly p95?: number;
}

/** The files in the folders of a measurement. */
export interface Sizes {
  readonly small: number;
  readonly middle: number;
  readonly large: number;
}

/** Resolves with its figures; those that this machine cannot measure are null. It removes its folders. */
export type Part = (sizes: Sizes, signal: AbortSignal) => Promise<ToolFigure[]>;

export function timesOf(what: string, samples: readonly number[], max?: number): ToolFigure {
  return { ...timeOf(what, median(samples), max), p95: percentile(samples, 0.95) };
}

export function timeOf(what: string, ms: number | null, max?: number): ToolFigure {
  return { what, unit: 'ms', bare: null, ours: ms, ...(max !== undefined && { target: { max } }) };
}

export function memory(what: string, mb: number | null, max?: number): ToolFigure {
  return {
    what: `memory: ${what}`,
    unit: 'MB',
    bare: null,
    ours: mb,
    ...(max !== undefined && { target: { max } }),
  };
}
