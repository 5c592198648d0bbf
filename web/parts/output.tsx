/** What a command prints: its colours, and only the last lines where it is long. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { printable } from '../../shared/text/plain-sight.ts';
import { words } from '../words/words.ts';
import { CopyButton } from './copy-button.tsx';
import { PART_LIMITS } from './limits.ts';
import type { Piece } from './terminal-colours.ts';
import { lastLines, plainOutput, statesOf } from './terminal-lines.ts';

interface Props {
  readonly text: string;
  /** Whether more of it may come. */
  readonly isOpen: boolean;
}

export function Output({ text, isOpen }: Props) {
  const [count, setCount] = useState<number>(PART_LIMITS.outputLines);
  const last = lastLines(text, count);
  const pieces = usePieces(last.text);
  const box = useFollowedEnd(isOpen, last.text);
  return (
    <div class="output">
      <div class="part-bar">
        {last.hidden > 0 && (
          <button type="button" onClick={() => setCount(count + PART_LIMITS.moreOutputLines)}>
            {words.moreLines(Math.min(last.hidden, PART_LIMITS.moreOutputLines))}
          </button>
        )}
        {count > PART_LIMITS.outputLines && (
          <button type="button" onClick={() => setCount(PART_LIMITS.outputLines)}>
            {words.fewerLines}
          </button>
        )}
        <CopyButton text={() => plainOutput(text)} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus (WCAG 2.1.1) */}
      <pre ref={box} tabIndex={0}>
        {pieces.map((piece, at) =>
          piece.classes === '' ? (
            piece.text
          ) : (
            <span key={at} class={piece.classes}>
              {piece.text}
            </span>
          ),
        )}
      </pre>
    </div>
  );
}

/** Without colours until their file is loaded, and in a text that has none. */
function usePieces(text: string): readonly Piece[] {
  const [colours, setColours] = useState<typeof import('./terminal-colours.ts')>();
  const isColoured = text.includes('\u001b');
  useEffect(() => {
    // A newer page has replaced the file, or the network is gone: output without colours is as good to read.
    if (isColoured) import('./terminal-colours.ts').then(setColours, () => undefined);
  }, [isColoured]);
  return useMemo(
    () => colours?.piecesOf(text) ?? [{ text: printable(statesOf(text)), classes: '' }],
    [text, colours],
  );
}

/** The box shows its end while it is open, until a person scrolls it. */
function useFollowedEnd(isOpen: boolean, shown: string) {
  const box = useRef<HTMLPreElement>(null);
  const height = useRef(0);
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return;
    const wasAtEnd = current.scrollTop + current.clientHeight >= height.current - NEAR_PX;
    if (isOpen && wasAtEnd) current.scrollTop = current.scrollHeight;
    height.current = current.scrollHeight;
  }, [isOpen, shown]);
  return box;
}

/** As far from the end as a reader may be who still follows it, in CSS pixels. */
const NEAR_PX = 40;
