/** Generates notebooks, and texts of notebooks in the styles of several programs. */

/** Random numbers below `n`, the same for the same seed. */
export function randomOf(seed: number): (n: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (n) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % n;
  };
}

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
export function notebookOf(random: (n: number) => number): {
  readonly text: string;
  readonly count: number;
  readonly style: Style;
} {
  const style: Style = {
    unit: ['  ', ' ', '\t', '    ', null][random(5)] as string | null,
    eol: random(4) === 0 ? '\r\n' : '\n',
    colon: random(3) === 0 ? ':' : ': ',
    isAscii: random(2) === 0,
  };
  const count = random(6);
  const hasIds = random(2) === 0;
  const isList = random(3) > 0;
  const cellOf = (_: unknown, index: number) => {
    const type = (['code', 'markdown', 'raw'] as const)[random(3)] as string;
    const source = SOURCES[random(SOURCES.length)] as string;
    const lines = isList ? (source === '' ? [] : source.split(/(?<=\n)/)) : source;
    return {
      ...(random(3) === 0 && { zz_first: { deep: [[], {}, [null, true]] } }),
      cell_type: type,
      ...(type === 'code' && { execution_count: random(2) === 0 ? null : random(99) }),
      ...(hasIds && { id: `cell-${index}` }),
      metadata: random(2) === 0 ? {} : { big: new Raw('123456789012345678901234567890.10e+5') },
      ...(type === 'code' && { outputs: outputsOf(random) }),
      source: lines,
      ...(random(4) === 0 && { 'é own': new Raw('1.0') }),
    };
  };
  const notebook = {
    ...(random(3) === 0 && { 'own "key"': new Raw('0.1000000000000000055511151231257827') }),
    cells: Array.from({ length: count }, cellOf),
    metadata: { kernelspec: { name: 'python3' }, language_info: { name: 'python' } },
    nbformat: 4,
    nbformat_minor: hasIds ? 5 : 4,
    ...(random(3) === 0 && { tail: [new Raw('-0'), new Raw('9007199254740993')] }),
  };
  return { text: dump(notebook, style) + (random(2) === 0 ? style.eol : ''), count, style };
}

function outputsOf(random: (n: number) => number): unknown[] {
  return [
    { name: 'stdout', output_type: 'stream', text: ['one\n', 'two\n'] },
    {
      data: { 'image/png': 'iVBORw0KGgo=', 'text/plain': ['<Figure>'] },
      metadata: {},
      output_type: 'display_data',
    },
  ].slice(random(3));
}
