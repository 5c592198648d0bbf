/** The computations of edits. Each has a check for inputs so small that it runs at once. */
import {
  countLineEnds,
  isFewLines,
  LIGHT_BYTES,
  LIGHT_CHANGED_LINES,
  LIGHT_NOTEBOOK_BYTES,
} from '../../machine/compute/light.ts';
import { task } from '../../machine/compute/task.ts';
import { amendEdit } from './amend.ts';
import { mergeThree } from './merge-three.ts';
import { type Edit, type EditRequest, proposeEdit } from './propose.ts';
import { transcode } from './transcode.ts';

export const EDIT_TASKS = {
  proposeEdit: task('proposeEdit', proposeEdit, isLightEdit, ({ edit }) => edit.kind === 'cell'),
  amendEdit: task('amendEdit', amendEdit, ({ bytes, proposed, content }) =>
    isFewLines([bytes ?? NO_BYTES, proposed, content]),
  ),
  transcode: task('transcode', transcode, ({ bytes }) => bytes.length <= LIGHT_BYTES),
  mergeThree: task('mergeThree', mergeThree, ({ base, ours, theirs }) =>
    isFewLines([base, ours, theirs]),
  ),
};

function isLightEdit({ bytes, standing, edit }: EditRequest): boolean {
  const asked = askedOf(edit);
  const seen = standing.state === 'changed' ? [standing.bytes] : [];
  const all = [bytes ?? NO_BYTES, ...seen, ...asked];
  const most = edit.kind === 'cell' ? LIGHT_NOTEBOOK_BYTES : LIGHT_BYTES;
  if (all.reduce((sum, { length }) => sum + length, 0) > most) return false;
  if (bytes === null) return true;
  if (edit.kind === 'merge') return countLineEnds(all) <= LIGHT_MERGED_LINES;
  const pieces = edit.kind === 'replace' ? edit.pieces : [];
  const isOnePlace = pieces.length === 1 && !pieces[0]?.all && seen.length === 0;
  if (countLineEnds(isOnePlace ? asked : all) > LIGHT_CHANGED_LINES) return false;
  // Each piece is searched in the whole file, and with `all` the file grows with each.
  if (pieces.length > 1)
    return bytes.length * pieces.length <= LIGHT_BYTES && !pieces.some(({ all }) => all);
  return pieces.every((piece) => !piece.all || hasRoom(bytes.length, piece));
}

/** The spans of blocks that fit a file everywhere grow with the square of the lines: these take about 6 ms. */
const LIGHT_MERGED_LINES = 100;

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
