/** Writes the figures as a table for people and as JSON for programs. */
import { type Figure, PEERS_NOTE, ratioOf, type Target, type Unit, verdictOf } from './figure.ts';

/** The figures of one measurement. The letter selects it on the command line. */
export interface Section {
  readonly letter: string;
  readonly title: string;
  readonly figures: readonly Figure[];
}

export function formatTable(sections: readonly Section[]): string {
  const body = sections.flatMap(({ letter, figures }) =>
    figures.map((figure) => rowOf(letter, figure)),
  );
  const lines = alignRows([HEAD, ...body], isText);
  const titles = sections.map(({ letter, title }) => `${letter}: ${title}`);
  return `${[...lines, '', ...titles, FLOOR_NOTE, PEERS_NOTE].join('\n')}\n`;
}

/** The lines of a table. Columns without text are figures, aligned to the right. */
export function alignRows(
  rows: readonly (readonly string[])[],
  isText: (column: number) => boolean,
): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

export function formatJson(sections: readonly Section[]): string {
  const figures = sections.flatMap(({ letter, figures }) =>
    figures.map((figure) => ({
      case: letter,
      ...figure,
      ratio: ratioOf(figure),
      verdict: verdictOf(figure),
    })),
  );
  return `${JSON.stringify({ figures, peers: PEERS_NOTE }, null, 2)}\n`;
}

const FLOOR_NOTE =
  'floor: an object and a WebSocket between model and client, as in Drawbridge, and nothing else.';

const HEAD = ['', '', 'bare', 'floor', 'ours', 'ratio', 'target', '', 'AIChatAgent', 'opencode'];

function isText(column: number): boolean {
  return column < 2 || column >= 6;
}

function rowOf(letter: string, figure: Figure): string[] {
  const { what, unit, bare, floor = null, ours, target, peers } = figure;
  const ratio = ratioOf(figure);
  return [
    letter,
    what,
    formatAmount(bare, unit),
    formatAmount(floor, unit),
    formatAmount(ours, unit),
    ratio === null ? '-' : ratio.toFixed(2),
    target ? formatTarget(target, unit) : '-',
    verdictOf(figure) ?? '-',
    peers?.aiChatAgent ?? '-',
    peers?.opencode ?? '-',
  ];
}

/** A dash for null. */
export function formatAmount(amount: number | null, unit: Unit): string {
  return amount === null ? '-' : `${amount.toFixed(DECIMALS[unit])} ${unit}`;
}

const DECIMALS: Readonly<Record<Unit, number>> = {
  ms: 2,
  us: 0,
  rows: 1,
  bytes: 0,
  KiB: 1,
  MB: 1,
  events: 0,
  requests: 0,
  '%': 1,
};

/** The bounds, as a person reads them. */
export function formatTarget({ maxRatio, max }: Target, unit: Unit): string {
  const bounds = [
    ...(maxRatio === undefined ? [] : [`${maxRatio} x bare`]),
    ...(max === undefined ? [] : [`${max} ${unit}`]),
  ];
  return `<= ${bounds.join(', ')}`;
}
