/** Generates notebooks, and texts of notebooks in the styles of several programs. */
import type { Random } from '../../../../bench/fuzz/random.ts';

/** JSON as Python's `json.dumps` and others write it. `Raw` values stand as they are. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export interface Style {
  /** Null: all of it in one line. */
  readonly unit: string | null;
  readonly eol: string;
  readonly colon: string;
  readonly isAscii: boolean;
}

function dump(value: unknown, style: Style, base = ''): string {
  if (value instanceof Raw) return value.text;
  if (typeof value !== 'object' || value === null) return leaf(value, style);
  const inner = base + (style.unit ?? '');
  const members = Array.isArray(value)
    ? value.map((each) => dump(each, style, inner))
    : Object.entries(value).map(
        ([name, each]) => leaf(name, style) + style.colon + dump(each, style, inner),
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (members.length === 0) return `${open}${close}`;
  if (style.unit === null) return open + members.join(style.colon.replace(':', ',')) + close;
  return `${open}${style.eol}${inner}${members.join(`,${style.eol}${inner}`)}${style.eol}${base}${close}`;
}

function leaf(value: unknown, { isAscii }: Style): string {
  const text = JSON.stringify(value);
  if (!isAscii) return text;
  return text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const SOURCES = [
  '',
  'x = 1',
  'import os\nprint("é", \'\\\\\')\n',
  '# Title\n\ntext with "quotes" and \t tabs',
  '\n\n\n',
  'emoji 🎉 and \u2028 a line separator\nlast',
  '{"cells": [], "nbformat": 4}',
];

/** A notebook with members that no program knows, numbers that no double holds, and every form of source. */
export function notebookOf(random: Random): {
  readonly text: string;
  readonly count: number;
  readonly style: Style;
} {
  const style: Style = {
    unit: random.pick(['  ', ' ', '\t', '    ', null]),
    eol: random.below(4) === 0 ? '\r\n' : '\n',
    colon: random.below(3) === 0 ? ':' : ': ',
    isAscii: random.chance(0.5),
  };
  const count = random.below(6);
  const hasIds = random.chance(0.5);
  const isList = random.below(3) > 0;
  const cellOf = (_: unknown, index: number) => {
    const type = random.pick(['code', 'markdown', 'raw']);
    const source = random.pick(SOURCES);
    const lines = isList ? (source === '' ? [] : source.split(/(?<=\n)/)) : source;
    return {
      ...(random.below(3) === 0 && { zz_first: { deep: [[], {}, [null, true]] } }),
      cell_type: type,
      ...(type === 'code' && { execution_count: random.chance(0.5) ? null : random.below(99) }),
      ...(hasIds && { id: `cell-${index}` }),
      metadata: random.chance(0.5) ? {} : { big: new Raw('123456789012345678901234567890.10e+5') },
      ...(type === 'code' && { outputs: outputsOf(random) }),
      source: lines,
      ...(random.below(4) === 0 && { 'é own': new Raw('1.0') }),
    };
  };
  const notebook = {
    ...(random.below(3) === 0 && { 'own "key"': new Raw('0.1000000000000000055511151231257827') }),
    cells: Array.from({ length: count }, cellOf),
    metadata: { kernelspec: { name: 'python3' }, language_info: { name: 'python' } },
    nbformat: 4,
    nbformat_minor: hasIds ? 5 : 4,
    ...(random.below(3) === 0 && { tail: [new Raw('-0'), new Raw('9007199254740993')] }),
  };
  return { text: dump(notebook, style) + (random.chance(0.5) ? style.eol : ''), count, style };
}

function outputsOf(random: Random): unknown[] {
  return [
    { name: 'stdout', output_type: 'stream', text: ['one\n', 'two\n'] },
    {
      data: { 'image/png': 'iVBORw0KGgo=', 'text/plain': ['<Figure>'] },
      metadata: {},
      output_type: 'display_data',
    },
  ].slice(random.below(3));
}
