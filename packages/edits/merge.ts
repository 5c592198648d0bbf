/** Merges an edit that leaves out unchanged parts. */
import { toGround } from './anchors.ts';
import { parseBlocks } from './blocks.ts';
import { eachLineText, splitLines, withEol } from './lines.ts';
import { isMarker } from './markers.ts';
import { chooseReading } from './readings.ts';
import { type EditRefusal, refuse } from './refusal.ts';
import { applySplices, spliceLines } from './splice.ts';

export type Merged = { readonly ok: true; readonly text: string } | EditRefusal;

/** Whether the edit leaves out parts. If not, it is a whole file. */
export function hasMarkers(edit: string): boolean {
  for (const line of eachLineText(edit)) if (isMarker(line)) return true;
  return false;
}

/**
 * Merges an edit with markers into a text without BOM. Each block stands where its unchanged lines stand, and replaces
 * what lies between the first and the last of them. New lines beyond them are added there, unless they are a new
 * version of the lines beside them. Lines outside the blocks stay in the units that they belong to. Where a marker is
 * missing at the start (end) of the edit, the block reaches to that edge of the file. Refuses what can be read in two
 * ways. Text outside the changed lines keeps its bytes.
 */
export function mergeEdit(text: string, edit: string): Merged {
  const blocks = parseBlocks(withEol(edit, '\n'));
  if (blocks.length === 0) return noChange();
  const lines = splitLines(text);
  const compared = lines.map((line) => line.text.trimEnd());
  // Blank lines at the edges of the file are no part of it for the blocks.
  const start = Math.max(
    0,
    compared.findIndex((line) => line !== ''),
  );
  const end = compared.findLastIndex((line) => line !== '') + 1;
  const asked = blocks.flatMap((block) => block.texts);
  const chosen = chooseReading(toGround(compared.slice(start, end), asked), blocks);
  if (!chosen.ok) return chosen;
  const splices = chosen.placed.map(({ block, from, to }) => {
    // An insertion takes the line beside it along, whose line end the new lines get.
    const [above, below] = from < to ? [0, 0] : from > 0 ? [1, 0] : [0, 1];
    const first = start + from - above;
    const there = lines.slice(first, start + to + below).map((line) => line.text);
    const kept = { above: there.slice(0, above), below: there.slice(there.length - below) };
    const replacement = [...kept.above, ...block.lines, ...kept.below];
    return spliceLines(text, lines, { from: first, asked: there, openEnd: false }, replacement);
  });
  const merged = applySplices(text, splices);
  return merged === text ? noChange() : { ok: true, text: merged };
}

function noChange(): EditRefusal {
  return refuse(
    'NO_CHANGE',
    'The file already reads as it would after this edit: nothing is left to change.',
  );
}
