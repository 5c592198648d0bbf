/** A notebook as the model reads it: its cells with what names them, and a short form of their outputs. */
import * as z from 'zod';
import { cutLines } from '../../../shared/text/cut-lines.ts';
import { printable } from '../../../shared/text/plain-sight.ts';
import { KIB } from '../../../shared/units.ts';
import { NOTEBOOK_LIMITS } from './limits.ts';
import { type Cell, Lines, type Notebook, textOfLines } from './notebook.ts';

/** Images and other binary outputs are named, not shown. */
export function showNotebook({ cells, version, language }: Notebook): string {
  const count = cells.length === 1 ? '1 cell' : `${cells.length} cells`;
  const head = `[notebook: ${count}, nbformat ${version}${language === null ? '' : `, ${language}`}]`;
  return [head, ...cells.map(({ cell }, index) => showCell(cell, index))].join('\n\n');
}

/** What names a cell, for example `cell 3: code, id "a1b2"`. */
export function nameCell({ cell_type: type, id }: Cell, index: number): string {
  return `cell ${index}: ${type}${id === undefined ? '' : `, id ${JSON.stringify(id)}`}`;
}

function showCell(cell: Cell, index: number): string {
  const { execution_count: count, outputs = [] } = cell;
  const ran = typeof count === 'number' ? `, ran as ${count}` : '';
  const shown = outputs.slice(0, NOTEBOOK_LIMITS.maxOutputs).map(showOutput);
  const more = outputs.length - shown.length;
  const others = more > 0 ? [`[${more} more outputs of cell ${index}]`] : [];
  const source = textOfLines(cell.source);
  return [
    `[${nameCell(cell, index)}${ran}]`,
    ...(source === '' ? [] : [source]),
    ...shown.map((output) => `[output of cell ${index}: ${output}`),
    ...others,
  ].join('\n');
}

const Output = z.discriminatedUnion('output_type', [
  z.object({ output_type: z.literal('stream'), name: z.string().catch('stdout'), text: Lines }),
  z.object({
    output_type: z.enum(['display_data', 'execute_result']),
    data: z.record(z.string(), z.unknown()),
  }),
  z.object({
    output_type: z.literal('error'),
    ename: z.string(),
    evalue: z.string(),
    traceback: z.array(z.string()).catch([]),
  }),
]);

/** With the end of the bracket that the caller opens. */
function showOutput(given: unknown): string {
  const output = Output.safeParse(given).data;
  switch (output?.output_type) {
    case undefined:
      return 'of an unknown form]';
    case 'stream':
      return `${output.name}]\n${short(textOfLines(output.text))}`;
    case 'error': {
      const { ename, evalue, traceback } = output;
      const trace = traceback.length === 0 ? '' : `\n${short(traceback.join('\n'))}`;
      return `error]\n${short(`${ename}: ${evalue}`)}${trace}`;
    }
    case 'display_data':
    case 'execute_result':
      return showData(output.data);
    default:
      return output satisfies never;
  }
}

/** The text of a result, and the names of its other forms. */
function showData({ 'text/plain': plain, ...others }: Readonly<Record<string, unknown>>): string {
  const names = Object.entries(others).map(([type, data]) => `${type}, ${sizeOf(data)}, not shown`);
  const text = Lines.safeParse(plain).data;
  const head = [...(text === undefined ? [] : ['text']), ...names].join('; ') || 'nothing';
  return `${head}]${text === undefined ? '' : `\n${short(textOfLines(text))}`}`;
}

function sizeOf(data: unknown): string {
  const text = Lines.safeParse(data).data;
  const { length } = text === undefined ? JSON.stringify(data) : textOfLines(text);
  return length < KIB ? `${length} characters` : `${Math.round(length / KIB)} K characters`;
}

/** Without colours, and no longer than says what it is. */
function short(text: string): string {
  const plain = printable(text).trimEnd();
  const { maxOutputChars: most } = NOTEBOOK_LIMITS;
  return cutLines(plain, most, 'in the file');
}
