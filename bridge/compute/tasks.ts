/** The tasks. Each has a check for inputs so small that it runs faster here than elsewhere. */

import { KIB } from '../../shared/units.ts';
import { type Amendment, amendEdit } from '../edits/amend.ts';
import { mergeThree } from '../edits/merge-three.ts';
import { type Edit, type EditRequest, proposeEdit } from '../edits/propose.ts';
import { transcode } from '../edits/transcode.ts';
import { isNotebook } from '../notebooks/notebook.ts';
import { pickPassages } from '../search/codebase/pick.ts';
import { describeChange } from './change-text.ts';
import { showFile } from './file-window.ts';
import { readImageHeader } from './image.ts';
import { formatLayout } from './layout.ts';
import { markdownOfHtml } from './page-text.ts';
import { isLightMatching, matchesAny } from './pattern.ts';
import { isPdf } from './pdf-text.ts';

/** A computation over plain data, without effects. */
interface Task<Input, Output> {
  readonly run: (input: Input) => Output | Promise<Output>;
  /** Whether the task takes a few milliseconds at most with this input. */
  readonly isLight: (input: Input) => boolean;
  /** Whether the input is a document: it can unpack to any size, so that it is read in a process of its own. */
  readonly isDocument: (input: Input) => boolean;
}

/** By the name that goes to the thread. A new computation that grows with a call's input is one more row. */
export const TASKS = {
  proposeEdit: task(proposeEdit, isLightEdit, ({ edit }) => edit.kind === 'cell'),
  amendEdit: task(amendEdit, isLightAmendment),
  showFile: task(
    showFile,
    ({ name, bytes }) =>
      bytes.length <= (isNotebook(name) ? LIGHT_NOTEBOOK_BYTES : LIGHT_BYTES) && !isPdf(bytes),
    ({ name, bytes }) => isPdf(bytes) || isNotebook(name),
  ),
  readImage: task(
    readImageHeader,
    () => false,
    () => true,
  ),
  transcode: task(transcode, ({ bytes }) => bytes.length <= LIGHT_BYTES),
  describeChange: task(describeChange, ({ before, after }) => {
    const all = [before, after];
    const size = before.length + after.length;
    return size <= LIGHT_BYTES && countLines(all) <= LIGHT_CHANGED_LINES;
  }),
  mergeThree: task(mergeThree, ({ base, ours, theirs }) => {
    const all = [base, ours, theirs];
    const size = all.reduce((sum, { length }) => sum + length, 0);
    return size <= LIGHT_BYTES && countLines(all) <= LIGHT_CHANGED_LINES;
  }),
  matchesAny: task(matchesAny, isLightMatching),
  formatLayout: task(formatLayout, (list) => list.length <= LIGHT_LIST_CHARS),
  markdownOfHtml: task(markdownOfHtml, ({ html }) => html.length <= LIGHT_BYTES),
  pickPassages: task(
    pickPassages,
    ({ files }) => files.reduce((sum, { bytes }) => sum + bytes.length, 0) <= LIGHT_BYTES,
  ),
};

export type TaskName = keyof typeof TASKS;
export type InputOf<Name extends TaskName> = Parameters<(typeof TASKS)[Name]['run']>[0];
export type OutputOf<Name extends TaskName> = Awaited<ReturnType<(typeof TASKS)[Name]['run']>>;

function task<Input, Output>(
  run: (input: Input) => Output | Promise<Output>,
  isLight: (input: Input) => boolean,
  isDocument: (input: Input) => boolean = () => false,
): Task<Input, Output> {
  return { run, isLight, isDocument };
}

/** Measured: linear work over this many bytes takes some 2 ms. */
const LIGHT_BYTES = 64 * KIB;

/** Measured: the tree of some 7,000 files takes 3 ms. To start the thread takes 100. */
const LIGHT_LIST_CHARS = 256 * KIB;

/** A notebook becomes a tree of its values several times: some 4 ms. */
const LIGHT_NOTEBOOK_BYTES = 16 * KIB;

/**
 * Bounds on work that grows with the square of the lines, about 6 ms each: the fine diff of changed lines, and the
 * spans of blocks that fit a file everywhere.
 */
const LIGHT_CHANGED_LINES = 500;
const LIGHT_MERGED_LINES = 100;

function isLightEdit({ bytes, standing, edit }: EditRequest): boolean {
  const asked = askedOf(edit);
  const seen = standing.state === 'changed' ? [standing.bytes] : [];
  const all = [bytes ?? NO_BYTES, ...seen, ...asked];
  const most = edit.kind === 'cell' ? LIGHT_NOTEBOOK_BYTES : LIGHT_BYTES;
  if (all.reduce((sum, { length }) => sum + length, 0) > most) return false;
  if (bytes === null) return true;
  if (edit.kind === 'merge') return countLines(all) <= LIGHT_MERGED_LINES;
  const pieces = edit.kind === 'replace' ? edit.pieces : [];
  const isOnePlace = pieces.length === 1 && !pieces[0]?.all && seen.length === 0;
  if (countLines(isOnePlace ? asked : all) > LIGHT_CHANGED_LINES) return false;
  // Each piece is searched in the whole file, and with `all` the file grows with each.
  if (pieces.length > 1) return bytes.length * pieces.length <= LIGHT_BYTES && !pieces.some(isAll);
  return pieces.every((piece) => !piece.all || hasRoom(bytes.length, piece));
}

function isLightAmendment({ bytes, proposed, content }: Amendment): boolean {
  const all = [bytes ?? NO_BYTES, proposed, content];
  const size = all.reduce((sum, { length }) => sum + length, 0);
  return size <= LIGHT_BYTES && countLines(all) <= LIGHT_CHANGED_LINES;
}

function isAll({ all }: { readonly all: boolean }): boolean {
  return all;
}

function askedOf(edit: Edit): string[] {
  switch (edit.kind) {
    case 'replace':
      return edit.pieces.flatMap(({ search, replacement }) => [search, replacement]);
    case 'cell':
      return [edit.search ?? '', edit.source];
    default:
      return [edit.text];
  }
}

const NO_BYTES = new Uint8Array();

/** Whether the result stays short even when the search matches everywhere. */
function hasRoom(
  length: number,
  { search, replacement }: { readonly search: string; readonly replacement: string },
): boolean {
  return (length / search.length) * replacement.length <= LIGHT_BYTES;
}

function countLines(sources: readonly (Uint8Array | string)[]): number {
  let lines = 0;
  for (const source of sources) {
    const next = (from: number) =>
      typeof source === 'string' ? source.indexOf('\n', from) : source.indexOf(LINE_END, from);
    for (let at = next(0); at !== -1; at = next(at + 1)) lines++;
  }
  return lines;
}

const LINE_END = 0x0a;
