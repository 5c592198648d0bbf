/** What a command prints: its colours, and only the last lines where it is long. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  lastLines,
  piecesOf,
  plainOutput,
  type TextLook,
} from '../../shared/shown/terminal-lines.ts';
import { words } from '../words/thread.ts';
import { CopyButton } from './copy-button.tsx';
import { PART_LIMITS } from './limits.ts';

interface OutputProps {
  readonly text: string;
  /** Whether more of it may come. */
  readonly isOpen: boolean;
}

export function Output({ text, isOpen }: OutputProps) {
  const [count, setCount] = useState<number>(PART_LIMITS.outputLines);
  const last = lastLines(text, count);
  const pieces = useMemo(
    () => piecesOf(last.text).map((piece) => ({ ...piece, classes: classesOf(piece.look) })),
    [last.text],
  );
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

/** Those of parts.css. */
function classesOf({ text, ground, decorations }: TextLook): string {
  return [
    ...(text ? [`ansi-${text}`] : []),
    ...(ground ? [`on-${ground}`] : []),
    ...decorations.map((name) => `ansi-${name}`),
  ].join(' ');
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
