/** Code in the terminal's own colours. The highlighter is loaded apart from the screen: the prompt does not wait for it. */
import type { CodeNode, highlightPart } from '../../../shared/shown/highlight.ts';
import { SCREEN_LIMITS } from '../../limits.ts';
import type { Paint, Style } from '../../terminal/paint.ts';

/** Lines of code, each with its colours. */
export interface ColouredPart {
  readonly lines: readonly string[];
  /** Whether the code after them can be coloured without them. */
  readonly isSelfContained: boolean;
}

export class CodeColours {
  readonly #paint: Paint;
  #highlight: typeof highlightPart | undefined;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  get isLoaded(): boolean {
    return this.#highlight !== undefined;
  }

  /** Until then, code has no colours. */
  async load(): Promise<void> {
    this.#highlight = (await import('../../../shared/shown/highlight.ts')).highlightPart;
  }

  /** The code must be printable. `language` is what stands behind a fence, such as `ts title="a"`. */
  linesOf(code: string, language: string): readonly string[] {
    return this.partOf(code, language).lines;
  }

  /** {@link CodeColours.linesOf} for the beginning of a code that grows. */
  partOf(code: string, language: string): ColouredPart {
    const [name] = /[\w+#.-]+/.exec(language) ?? [];
    const isShort = code.length <= SCREEN_LIMITS.highlightedChars;
    const part = name !== undefined && isShort ? this.#highlight?.(code, name) : undefined;
    if (!part) return { lines: code.split('\n'), isSelfContained: true };
    return { lines: this.#linesOfTree(part.root), isSelfContained: part.isSelfContained };
  }

  #linesOfTree(root: CodeNode): string[] {
    const lines = [''];
    const add = (node: CodeNode | string, style: Style | undefined) => {
      if (typeof node !== 'string') {
        const own = STYLES[node.scope?.split(/[.:]/)[0] ?? ''] ?? style;
        for (const child of node.children) add(child, own);
        return;
      }
      for (const [index, text] of node.split('\n').entries()) {
        if (index > 0) lines.push('');
        if (text === '') continue;
        lines.push(`${lines.pop()}${style ? this.#paint(style, text) : text}`);
      }
    };
    add(root, undefined);
    return lines;
  }
}

/** By the first word of highlight.js's scopes. */
const STYLES: Readonly<Record<string, Style>> = {
  keyword: 'magenta',
  literal: 'magenta',
  tag: 'magenta',
  name: 'magenta',
  'selector-tag': 'magenta',
  string: 'green',
  regexp: 'green',
  char: 'green',
  addition: 'green',
  number: 'yellow',
  symbol: 'yellow',
  bullet: 'yellow',
  link: 'yellow',
  deletion: 'red',
  comment: 'dim',
  quote: 'dim',
  doctag: 'dim',
  meta: 'dim',
  title: 'blue',
  section: 'blue',
  'selector-class': 'blue',
  'selector-id': 'blue',
  type: 'cyan',
  built_in: 'cyan',
  attr: 'cyan',
  attribute: 'cyan',
  variable: 'cyan',
};
