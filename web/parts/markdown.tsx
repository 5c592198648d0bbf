/** Markdown as it streams. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { words } from '../words/thread.ts';
import { PART_LIMITS } from './limits.ts';
import { MarkdownWriter } from './markdown-writer.ts';

interface MarkdownProps {
  readonly text: string;
  /** Whether more of it may come. */
  readonly isOpen: boolean;
}

export function Markdown({ text, isOpen }: MarkdownProps) {
  const root = useRef<HTMLDivElement>(null);
  const shown = useRef<ShownText>(undefined);
  const [limit, setLimit] = useState<number>(PART_LIMITS.markdownChars);
  const isCut = text.length > limit;
  const visible = isCut ? text.slice(0, limit) : text;
  const isComplete = !isOpen && !isCut;
  useLayoutEffect(() => {
    if (root.current) shown.current = show(root.current, shown.current, visible, isComplete);
  }, [visible, isComplete]);
  useEffect(() => () => shown.current?.writer.remove(), []);
  return (
    <div>
      <div class="markdown" ref={root} />
      {isCut && (
        <button
          type="button"
          class="fold"
          onClick={() => setLimit(limit + PART_LIMITS.markdownChars)}
        >
          {words.loadMore}
        </button>
      )}
    </div>
  );
}

/** What the nodes in the box show, which are not Preact's. */
interface ShownText {
  readonly writer: MarkdownWriter;
  readonly text: string;
  readonly isComplete: boolean;
}

/** Appends the rest of a text that goes on, and begins again with another one. */
function show(
  root: Element,
  before: ShownText | undefined,
  text: string,
  isComplete: boolean,
): ShownText {
  const goesOn = before && !before.isComplete && text.startsWith(before.text);
  if (before && !goesOn) before.writer.remove();
  const writer = goesOn ? before.writer : new MarkdownWriter(root);
  writer.write(goesOn ? text.slice(before.text.length) : text);
  if (isComplete) writer.end();
  return { writer, text, isComplete };
}
