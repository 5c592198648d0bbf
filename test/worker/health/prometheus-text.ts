/** A strict reader of Prometheus' text form 0.0.4, after its specification alone. Throws for all that it forbids. */

export interface Family {
  readonly type: string;
  readonly help: string;
  /** Values by series: `name{label="value"}`, with the labels' real values. */
  readonly series: ReadonlyMap<string, number>;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped']);

export function parsePrometheus(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('The last line must end with a line feed.');
  const families = new Map<string, { type: string; help: string; series: Map<string, number> }>();
  let present = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (!NAME.test(name) || families.has(name)) throw new Error(`a bad or second ${line}`);
      families.set(name, { type: 'untyped', help: rest, series: new Map() });
      present = name;
    } else if (kind === 'TYPE') {
      const family = families.get(name);
      if (!family || name !== present || !TYPES.has(rest)) throw new Error(`a bad ${line}`);
      family.type = rest;
    } else {
      const family = families.get(present);
      if (!family) throw new Error(`a sample of nothing: ${line}`);
      const { series, value } = parseSample(line, present, family.type);
      if (family.series.has(series)) throw new Error(`a second ${series}`);
      family.series.set(series, value);
    }
  }
  for (const family of families.values()) checkHistogram(family);
  return families;
}

function parseSample(line: string, family: string, type: string) {
  const [, name = '', , labels = '', number = ''] =
    /^([^\s{]+)(\{(.*)\})? (\S+)$/s.exec(line) ?? [];
  const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  if (!suffixes.some((suffix) => name === family + suffix)) throw new Error(`stray: ${line}`);
  if (!/^(?:[+-]?Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.test(number)) {
    throw new Error(`no number: ${line}`);
  }
  return { series: `${name}{${parseLabels(labels, line)}}`, value: Number(number) };
}

function parseLabels(text: string, line: string): string {
  const labels: string[] = [];
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text);
    if (!match) throw new Error(`bad labels: ${line}`);
    const value = (match[2] ?? '').replaceAll(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));
    labels.push(`${match[1]}="${value}"`);
  }
  return labels.join(',');
}

/** Buckets grow, and the last one, `+Inf`, has the count. */
function checkHistogram({ type, series }: Family): void {
  if (type !== 'histogram') return;
  let before = 0;
  for (const [name, value] of series) {
    const isBucket = name.includes('_bucket{');
    if (isBucket && value < before) throw new Error(`${name} is below the bucket before it`);
    if (name.includes('_count{') && value !== before) throw new Error(`${name} is not its +Inf`);
    if (isBucket) before = value;
    else if (name.includes('_count{')) before = 0;
  }
}
