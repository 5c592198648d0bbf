/** Code with its language and a way to copy it. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CodeNode } from '../../shared/shown/highlight.ts';
import { printable } from '../../shared/text/plain-sight.ts';
import { loadHighlighter } from './colours.ts';
import { CopyButton } from './copy-button.tsx';
import { PART_LIMITS } from './limits.ts';

interface CodeProps {
  readonly text: string;
  /** A name, or all that a text has in its place, such as `ts:src/a.ts`. Shown as it is. */
  readonly language: string;
  /** Whether more of it may come. */
  readonly isOpen: boolean;
  /** Counted from 1; absent where the lines have no numbers. */
  readonly firstLine?: number;
}

export function Code({ text: source, language, isOpen, firstLine }: CodeProps) {
  // Code must not look like other code.
  const text = printable(source);
  const tree = useColours(text, language, isOpen);
  const box = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (isOpen && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text, isOpen]);
  return (
    <div class="code">
      <div class="part-bar">
        <span class="language">{language === 'plaintext' ? '' : language}</span>
        <CopyButton text={() => source} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus (WCAG 2.1.1) */}
      <pre class="code-text" ref={box} tabIndex={0}>
        {firstLine !== undefined && (
          <span class="numbers" aria-hidden="true">
            {lineNumbers(text, firstLine)}
          </span>
        )}
        <code dir="ltr">{tree ? <Colours node={tree} /> : <LineBoxes text={text} />}</code>
      </pre>
    </div>
  );
}

/** The coloured tree of this text, when it is complete and its language is known. */
function useColours(text: string, language: string, isOpen: boolean): CodeNode | undefined {
  const [coloured, setColoured] = useState<{ text: string; tree: CodeNode | undefined }>();
  // Not for each piece of a text: a browser needs some tasks for an effect.
  const complete = isOpen ? undefined : text;
  useEffect(() => {
    const [name] = /[\w+#.-]+/.exec(language) ?? [];
    const load = loadHighlighter;
    if (!load || !complete || !name || complete.length > PART_LIMITS.highlightedChars) return;
    let isWanted = true;
    const find = async () => {
      await idle(); // What is read comes first, over a slow network too.
      const { highlight } = await load();
      if (isWanted) setColoured({ text: complete, tree: highlight(complete, name) });
    };
    // A newer page has replaced the file, or the network is gone: code without colours is as good to read.
    find().catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [complete, language]);
  return coloured?.text === text ? coloured.tree : undefined;
}

/** Safari has no idle callbacks. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve(), { timeout: 500 });
    else setTimeout(resolve);
  });
}

function Colours({ node }: { readonly node: CodeNode }) {
  const children = node.children.map((child, at) =>
    typeof child === 'string' ? child : <Colours key={at} node={child} />,
  );
  // `title.function` has the colour of `title`; `language:css` is code of another language inside.
  const kind = node.scope?.split(/[.:]/)[0];
  if (kind === undefined || kind === 'language') return <>{children}</>;
  return <span class={`code-${kind}`}>{children}</span>;
}

/** Boxes of some lines each: while the text grows, only the last box changes. */
function LineBoxes({ text }: { readonly text: string }) {
  const boxes: string[] = [];
  let [start, lines] = [0, 0];
  for (let end = text.indexOf('\n') + 1; end > 0; end = text.indexOf('\n', end) + 1) {
    if (++lines % PART_LIMITS.codeBoxLines > 0) continue;
    boxes.push(text.slice(start, end));
    start = end;
  }
  boxes.push(text.slice(start));
  return boxes.map((box, at) => (
    <span key={at} class="lines">
      {box}
    </span>
  ));
}

function lineNumbers(text: string, first: number): string {
  const count = text.replace(/\n$/, '').split('\n').length;
  return Array.from({ length: count }, (_, at) => first + at).join('\n');
}
