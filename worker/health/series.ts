/** Metrics in Prometheus' text form, version 0.0.4. Every value lives in this isolate's memory, from 0. */
import { SECOND } from '../../shared/units.ts';
import { METRIC_LIMITS } from './limits.ts';

/** The values of a series' labels. Names of labels come from this code only. */
export type Labels = Readonly<Record<string, string | number>>;

/** A metric: its name, its help and its series. */
abstract class Metric {
  readonly #name: string;
  readonly #help: string;

  constructor(name: string, help: string) {
    this.#name = `drawbridge_${name}`;
    this.#help = help;
  }

  protected abstract readonly type: 'counter' | 'gauge' | 'histogram';
  protected abstract lines(name: string): string[];

  format(): string {
    const name = this.#name;
    const head = [`# HELP ${name} ${this.#help}`, `# TYPE ${name} ${this.type}`];
    return [...head, ...this.lines(name), ''].join('\n');
  }
}

/** Only grows. */
export class Counter extends Metric {
  protected readonly type = 'counter';
  readonly #series = new Map<string, number>();

  add(labels: Labels, count = 1): void {
    const key = seriesIn(this.#series, labels);
    this.#series.set(key, (this.#series.get(key) ?? 0) + count);
  }

  protected override lines(name: string): string[] {
    return [...this.#series].map(([labels, value]) => sample(name, labels, value));
  }
}

/** Computed when it is read. */
export class Gauge extends Metric {
  protected readonly type = 'gauge';
  readonly #read: () => number;

  constructor(name: string, help: string, read: () => number) {
    super(name, help);
    this.#read = read;
  }

  protected override lines(name: string): string[] {
    return [sample(name, '', this.#read())];
  }
}

interface Distribution {
  /** The number of values up to each bound. */
  readonly buckets: number[];
  sum: number;
  count: number;
}

/** Times in seconds. */
export class Histogram extends Metric {
  protected readonly type = 'histogram';
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Distribution>();

  constructor(name: string, help: string, bounds: readonly number[]) {
    super(name, help);
    this.#bounds = bounds;
  }

  /** A time below 0, after the clock was set back, counts as 0. */
  observe(labels: Labels, ms: number): void {
    const key = seriesIn(this.#series, labels);
    const found = this.#series.get(key) ?? { buckets: this.#bounds.map(() => 0), sum: 0, count: 0 };
    const seconds = Math.max(0, ms) / SECOND;
    this.#bounds.forEach((bound, at) => {
      if (seconds <= bound) found.buckets[at] = (found.buckets[at] ?? 0) + 1;
    });
    found.sum += seconds;
    found.count += 1;
    this.#series.set(key, found);
  }

  protected override lines(name: string): string[] {
    return [...this.#series].flatMap(([labels, { buckets, sum, count }]) => {
      const bucket = (le: string, value: number) => {
        const all = [labels, `le="${le}"`].filter((part) => part !== '').join(',');
        return sample(`${name}_bucket`, all, value);
      };
      return [
        ...this.#bounds.map((bound, at) => bucket(String(bound), buckets[at] ?? 0)),
        bucket('+Inf', count),
        sample(`${name}_sum`, labels, sum),
        sample(`${name}_count`, labels, count),
      ];
    });
  }
}

/** The key of the series with these labels: their text. A series beyond the bound becomes the one named `other`. */
function seriesIn(series: ReadonlyMap<string, unknown>, labels: Labels): string {
  const key = formatLabels(labels);
  if (series.has(key) || series.size < METRIC_LIMITS.maxSeries) return key;
  return formatLabels(Object.fromEntries(Object.keys(labels).map((name) => [name, 'other'])));
}

function formatLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(String(value))}"`)
    .join(',');
}

/** Prometheus demands UTF-8 with these three escapes. A carriage return is no end of a line there. */
function escapeLabel(value: string): string {
  const cut = value.slice(0, METRIC_LIMITS.maxLabelChars).toWellFormed();
  return cut.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function sample(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}`;
}
