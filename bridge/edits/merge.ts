/**
 * Merges an edit that leaves out unchanged parts. Each block replaces the lines between its own first and last line.
 */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { eachLineText, lineTexts, splitLines, withEol } from './lines.ts';
import { isMarker } from './markers.ts';
import { type Block, type PlacedBlock, placeBlocks } from './placement.ts';
import { type EditRefusal, refuse } from './refusal.ts';
import { applySplices, spliceLines } from './splice.ts';

export type Merged = { readonly ok: true; readonly text: string } | EditRefusal;

/** Whether the edit leaves out parts. If not, it is a whole file. */
export function hasMarkers(edit: string): boolean {
  for (const line of eachLineText(edit)) if (isMarker(line)) return true;
  return false;
}

/**
 * Merges an edit with markers into a text without BOM. A block next to a marker must begin (end) with a line of the
 * file. Where a marker is missing at the start (end) of the edit, the block reaches to that edge of the file. Refuses
 * when another place fits nearly as well, and when much would be deleted silently. Text between the blocks, and the
 * context at their ends, keeps its bytes.
 */
export function mergeEdit(text: string, edit: string): Merged {
  const blocks = parseBlocks(withEol(edit, '\n'));
  const lines = splitLines(text);
  const file = lines.map((line) => line.text);
  if (text === '' || text.endsWith('\n')) file.pop();
  const placed = placeBlocks(file, blocks);
  if (!placed.ok) return placed;
  const tooMuch = findDeletion(file, placed.blocks);
  if (tooMuch !== null) return tooMuch;
  const splices = placed.blocks.map(({ block, from, to }) =>
    spliceLines(text, lines, { from, asked: file.slice(from, to), openEnd: false }, block.lines),
  );
  const merged = applySplices(text, splices);
  if (merged === text) {
    return refuse(
      'NO_CHANGE',
      'The file already reads as it would after this edit: nothing is left to change.',
    );
  }
  return { ok: true, text: merged };
}

/** The edit's pieces between markers. Pieces of only white space are dropped. */
function parseBlocks(edit: string): Block[] {
  const lines = lineTexts(edit.replace(/\n$/, ''));
  const blocks: Block[] = [];
  let start = 0;
  const closeBlock = (end: number) => {
    const piece = lines.slice(start, end);
    if (piece.some((line) => line.trim() !== '')) {
      blocks.push({
        lines: piece,
        number: start + 1,
        startsFile: start === 0,
        endsFile: end === lines.length,
      });
    }
    start = end + 1;
  };
  lines.forEach((line, index) => {
    if (isMarker(line)) closeBlock(index);
  });
  closeBlock(lines.length);
  return blocks;
}

function findDeletion(file: readonly string[], blocks: readonly PlacedBlock[]): EditRefusal | null {
  let total = 0;
  for (const placed of blocks) {
    const deleted = placed.to - placed.from - placed.block.lines.length;
    if (deleted > TOOL_LIMITS.maxEdgeDeletedLines && reachesStrangeEdge(file, placed)) {
      return refuse(
        'TOO_MUCH_DELETED',
        `The block at line ${placed.block.number} of the edit has no marker at the edge of the file, so lines ` +
          `${placed.from + 1} to ${placed.to} would become ${placed.block.lines.length} lines: add the marker if the rest ` +
          'stays, or delete it with str_replace.',
      );
    }
    total += Math.max(0, deleted);
  }
  if (total <= TOOL_LIMITS.maxDeletedLines) return null;
  return refuse(
    'TOO_MUCH_DELETED',
    `The edit would delete ${total} lines without naming them, more than ${TOOL_LIMITS.maxDeletedLines}: add markers ` +
      'where code stays, or give the whole file with write.',
  );
}

/** Whether the block reaches to an edge of the file where the file's line is not the block's. */
function reachesStrangeEdge(file: readonly string[], { block }: PlacedBlock): boolean {
  const isStrange = (a: string | undefined, b: string | undefined) => a?.trimEnd() !== b?.trimEnd();
  return (
    (block.startsFile && isStrange(file[0], block.lines[0])) ||
    (block.endsFile && isStrange(file.at(-1), block.lines.at(-1)))
  );
}
