/** What the thread can be asked for, and which of it is so small that asking would take longer than doing it. */
import { pickPassages } from '../codebase/pick.ts';
import { type EditRequest, proposeEdit } from '../edits/propose.ts';
import { transcode } from '../edits/transcode.ts';
import { formatLayout } from '../layout.ts';
import { showFile } from '../tools/file-window.ts';

/** A computation over plain data, without effects. */
interface Task<Input, Output> {
  readonly run: (input: Input) => Output;
  /** Whether it takes a few milliseconds at most, whatever the input holds. */
  readonly isLight: (input: Input) => boolean;
}

/** By the name that goes to the thread. A new computation that grows with what a call brings is one more row. */
export const TASKS = {
  proposeEdit: task(proposeEdit, isLightEdit),
  showFile: task(showFile, ({ bytes }) => bytes.length <= LIGHT_BYTES),
  transcode: task(transcode, ({ bytes }) => bytes.length <= LIGHT_BYTES),
  formatLayout: task(formatLayout, (list) => list.length <= LIGHT_BYTES),
  pickPassages: task(
    pickPassages,
    ({ files }) => files.reduce((sum, { bytes }) => sum + bytes.length, 0) <= LIGHT_BYTES,
  ),
};

export type TaskName = keyof typeof TASKS;
export type InputOf<Name extends TaskName> = Parameters<(typeof TASKS)[Name]['run']>[0];
export type OutputOf<Name extends TaskName> = ReturnType<(typeof TASKS)[Name]['run']>;

function task<Input, Output>(
  run: (input: Input) => Output,
  isLight: (input: Input) => boolean,
): Task<Input, Output> {
  return { run, isLight };
}

/** Measured: linear work over so much takes some 2 ms. */
const LIGHT_BYTES = 64 * 1024;

/** The fine diff grows with the square of the lines: 25 ms for 500 old ones and 500 others in their place. */
const LIGHT_LINES = 600;

function isLightEdit({ bytes, standing, edit }: EditRequest): boolean {
  const asked = edit.kind === 'replace' ? edit.search + edit.replacement : edit.text;
  const seen = standing.state === 'changed' ? standing.bytes : NO_BYTES;
  const sources = [bytes ?? NO_BYTES, seen, asked];
  return (
    sources.reduce((sum, { length }) => sum + length, 0) <= LIGHT_BYTES &&
    sources.every(hasFewLines)
  );
}

const NO_BYTES = new Uint8Array();

function hasFewLines(source: Uint8Array | string): boolean {
  let lines = 0;
  const next = (from: number) =>
    typeof source === 'string' ? source.indexOf('\n', from) : source.indexOf(LINE_END, from);
  for (let at = next(0); at !== -1; at = next(at + 1)) {
    if (++lines > LIGHT_LINES) return false;
  }
  return true;
}

const LINE_END = 0x0a;
