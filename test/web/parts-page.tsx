/** What runs in the page of the browser test: the parts of the web page, alone. */
import { render } from 'preact';
import { Code } from '../../web/parts/code.tsx';
import { colourWith } from '../../web/parts/colours.ts';
import { DiffRows } from '../../web/parts/diff.tsx';
import { Markdown } from '../../web/parts/markdown.tsx';
import { MarkdownWriter } from '../../web/parts/markdown-writer.ts';
import { Output } from '../../web/parts/output.tsx';
import { makePasskey, signByPasskey } from '../../web/session/passkey.ts';
import { useFollowing } from '../../web/thread/scroll.ts';
import '../../web/main.css';

colourWith(() => import('../../shared/shown/highlight.ts'));
const PARTS = { Code, DiffRows, Following, Markdown, Output };
const root = document.createElement('main');
document.body.append(root);

/** A box that scrolls as the thread does. */
function Following({ text }: { readonly text: string }) {
  const { box, hasNews } = useFollowing(ignore);
  return (
    <div class="following" ref={box} style="height: 200px; overflow-y: auto">
      <p class="said">{text}</p>
      {hasNews && <b>news</b>}
    </div>
  );
}

function ignore(): void {}

const violations: string[] = [];
document.addEventListener('securitypolicyviolation', (event) =>
  violations.push(`${event.effectiveDirective} ${event.blockedURI}`),
);

const page = {
  /** Renders a part, or renders it again with other properties. */
  show<Name extends keyof typeof PARTS>(name: Name, props: Parameters<(typeof PARTS)[Name]>[0]) {
    const Part = PARTS[name] as (all: object) => preact.JSX.Element;
    render(<Part {...props} />, root);
  },

  clear() {
    render(null, root);
  },

  /** The DOM that Markdown becomes when it comes in these pieces. */
  markdownOf(pieces: readonly string[]): string {
    const box = document.createElement('div');
    const writer = new MarkdownWriter(box);
    for (const piece of pieces) writer.write(piece);
    writer.end();
    box.normalize();
    const html = box.innerHTML;
    writer.remove();
    return html;
  },

  /** The milliseconds of all renderings and of the longest one, while Markdown grows by `step` characters each time. */
  timeOf(text: string, step: number): { all: number; longest: number } {
    let [all, longest] = [0, 0];
    for (let end = step; end < text.length + step; end += step) {
      const start = performance.now();
      page.show('Markdown', { text: text.slice(0, end), isOpen: end < text.length });
      root.getBoundingClientRect();
      const took = performance.now() - start;
      all += took;
      longest = Math.max(longest, took);
    }
    return { all: Math.round(all), longest: Math.round(longest) };
  },

  violations: () => violations,

  makePasskey,
  signByPasskey,
};

Object.assign(globalThis, { page });
