/** Changed lines with their numbers. */
import { useMemo, useState } from 'preact/hooks';
import { type DiffRow, rowsWithGaps } from '../../shared/shown/diff-rows.ts';
import { printable } from '../../shared/text/plain-sight.ts';
import type { Diff } from '../../shared/wire/documents.ts';
import { words } from '../words/thread.ts';
import { PART_LIMITS } from './limits.ts';

interface DiffRowsProps {
  readonly hunks: readonly Diff[];
}

export function DiffRows({ hunks }: DiffRowsProps) {
  const [isWhole, setWhole] = useState(false);
  // A new list is a new change, and one that streams has another text at its end.
  const rows = useMemo(() => rowsWithGaps(hunks), [hunks, hunks.at(-1)?.newString]);
  const more = rows.length - PART_LIMITS.diffRows;
  const shown = isWhole ? rows : rows.slice(0, PART_LIMITS.diffRows);
  return (
    <div class="diff">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus (WCAG 2.1.1) */}
      <div class="sideways" tabIndex={0}>
        <table>
          <tbody>
            {shown.map((row, at) => (row ? <Row key={at} {...row} /> : <Gap key={at} />))}
          </tbody>
        </table>
      </div>
      {more > 0 && (
        <button
          type="button"
          class="fold"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? words.fewerLines : words.moreLines(more)}
        </button>
      )}
    </div>
  );
}

function Row({ sign, text, oldLine, newLine }: DiffRow) {
  return (
    <tr class={ROW_CLASS[sign]}>
      <td class="number">{oldLine}</td>
      <td class="number">{newLine}</td>
      <td class="sign">{SHOWN_SIGN[sign]}</td>
      <td class="line">{shownLine(text)}</td>
    </tr>
  );
}

/** A CR at the end is part of the line end, a CR inside is shown as a symbol. */
function shownLine(text: string): string {
  return printable(text.replace(/\r$/, '').replaceAll('\r', '\u240d'));
}

function Gap() {
  return (
    <tr class="gap">
      <td colSpan={4}>⋯</td>
    </tr>
  );
}

const ROW_CLASS = { '+': 'added', '-': 'removed', ' ': 'same' } as const;
const SHOWN_SIGN = { '+': '+', '-': '−', ' ': '' } as const;
