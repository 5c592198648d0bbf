/** A file edit as a few coloured lines. */
import { structuredPatch } from 'diff';
import { printable } from '../../shared/text/plain-sight.ts';
import type { Diff } from '../../shared/wire/documents.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { Paint } from '../terminal/paint.ts';

/** The changed lines with a few unchanged lines around them. `@ 12` names the old file's line where a part begins. */
export function diffLines(diff: Diff, paint: Paint): string[] {
  const patch = structuredPatch('', '', diff.oldString, diff.newString, '', '', {
    context: RENDER_LIMITS.diffContextLines,
    maxEditLength: RENDER_LIMITS.maxDiffSteps,
  });
  if (!patch) return [paint('dim', 'the change is too large to show')];
  const lines = patch.hunks.flatMap((hunk) => [
    paint('dim', `@ ${diff.startLine + hunk.oldStart - 1}`),
    ...hunk.lines.filter((line) => !line.startsWith('\\')).map((line) => diffLine(line, paint)),
  ]);
  return bounded(lines, paint);
}

/** The lines of a new file. */
export function newLines(content: string, paint: Paint): string[] {
  const lines = content.replace(/\n$/, '').split('\n');
  return bounded(
    lines.map((line) => diffLine(`+${line}`, paint)),
    paint,
  );
}

/** Returns one line: a CR at the end is part of the line end, a CR inside is shown as a symbol. */
function diffLine(line: string, paint: Paint): string {
  const content = line.slice(1).replace(/\r$/, '').replaceAll('\r', '\u240d');
  const text = `${line.slice(0, 1)} ${printable(content)}`;
  if (line.startsWith('+')) return paint('green', text);
  return line.startsWith('-') ? paint('red', text) : text;
}

function bounded(lines: readonly string[], paint: Paint): string[] {
  const more = lines.length - RENDER_LIMITS.maxDiffLines;
  if (more <= 0) return [...lines];
  return [...lines.slice(0, RENDER_LIMITS.maxDiffLines), paint('dim', `… ${more} more lines`)];
}
