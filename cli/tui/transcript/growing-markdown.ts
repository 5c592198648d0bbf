/** Markdown that grows: a block that no later text can change is parsed and wrapped once. */
import {
  Markdown,
  type MarkdownTheme,
  Marked,
  type Token,
  type Tokens,
} from '@earendil-works/pi-tui';
import { printable } from '../../../shared/text/plain-sight.ts';
import { Growing } from './growing.ts';
import type { Look } from './look.ts';

const marked = new Marked();

export class GrowingMarkdown extends Growing {
  readonly #theme: MarkdownTheme;
  readonly #view: Markdown;
  /** What comes after the finished blocks. */
  #tail = '';
  #gapBeforeTail = false;

  /** The text need not be printable. */
  constructor(textOf: () => string, { markdown, colours }: Look) {
    super(textOf, colours);
    this.#theme = ownTheme(markdown);
    this.#view = new Markdown('', 0, 0, this.#theme);
  }

  protected override reset(): void {
    this.#tail = '';
    this.#gapBeforeTail = false;
  }

  protected override grow(news: string): void {
    const text = printable(news).replaceAll(RESERVED, '\ufffd').replaceAll('$', DOLLAR);
    this.#tail = (this.#tail + text).replaceAll(DEEP, '$1\\');
    if (news.includes('\n')) this.#finishBlocks();
  }

  protected override tailAt(width: number): readonly string[] {
    this.#view.setText(this.#tail);
    return withGap(this.#gapBeforeTail, linesOf(this.#view, width));
  }

  /** Looks only at whole lines: `1` at the end of the text may become the next item of a list. */
  #finishBlocks(): void {
    const tokens = marked.lexer(this.#tail.slice(0, this.#tail.lastIndexOf('\n') + 1));
    const blocks = tokens.flatMap(itemsOf);
    const last = blocks.findLastIndex(({ raw }) => raw.trim() !== '');
    for (const [index, block] of blocks.slice(0, Math.max(last, 0)).entries()) {
      if (block.raw.trim() !== '') this.#finishBlock(block);
      this.#gapBeforeTail = isApart(block, blocks[index + 1]);
      this.#tail = this.#tail.slice(block.raw.length);
    }
    const { number } = blocks[last] ?? {};
    if (number !== undefined) this.#tail = withNumber(this.#tail, number);
  }

  #finishBlock({ raw, number }: Block): void {
    const hasGap = this.#gapBeforeTail;
    const text = number === undefined ? raw : withNumber(raw, number);
    const view = new Markdown(text.trimEnd(), 0, 0, this.#theme);
    this.finish((width) => withGap(hasGap, linesOf(view, width)));
  }
}

/** What can be shown without what comes before and after it. */
interface Block {
  readonly type: string;
  readonly raw: string;
  /** Of an item of a numbered list: Markdown counts on from the first item, whatever the others have. */
  readonly number?: number;
}

function itemsOf(token: Token): readonly Block[] {
  if (token.type !== 'list') return [token];
  const { items, start } = token as Tokens.List;
  let rest = token.raw;
  return items.map((item, index) => {
    // The parser may leave the end of the last line out of the last item.
    const raw = index === items.length - 1 ? rest : item.raw;
    rest = rest.slice(raw.length);
    return { type: 'list', raw, ...(start !== '' && { number: start + index }) };
  });
}

function withNumber(raw: string, number: number): string {
  return raw.replace(/^([ \t]*)\d+/, `$1${number}`);
}

/** A list belongs to the words before it, and its items to each other, unless an empty line is between them. */
function isApart({ type, raw }: Block, next: Block | undefined): boolean {
  const belongs = next?.type === 'list' && (type === 'paragraph' || type === 'list');
  return !belongs || /\n[ \t]*\n$/.test(raw);
}

/** Without the blanks with which the library fills each line, and without empty lines at the end. */
function linesOf(view: Markdown, width: number): readonly string[] {
  const lines = view
    .render(width)
    .filter((line) => !line.includes(FENCE))
    .map((line) => line.trimEnd().replaceAll(DOLLAR, '$'));
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}

/** A block of code has no fences, but its language above it. */
function ownTheme(theme: MarkdownTheme): MarkdownTheme {
  const { codeBlockBorder, highlightCode } = theme;
  return {
    ...theme,
    codeBlockBorder: (fence) => (fence === '```' ? FENCE : codeBlockBorder(fence.slice(3))),
    ...(highlightCode && {
      highlightCode: (code, language) => highlightCode(code.replaceAll(DOLLAR, '$'), language),
    }),
  };
}

/** Stands for a `$`: the library takes it for the start of a formula, and what follows for no Markdown. */
const DOLLAR = '\ue000';
/** Stands in a line that is left out. */
const FENCE = '\ue001';
/** Six quotes and lists inside each other: parser and library take far more time for each. */
const DEEP = /^([ \t]*(?:>[ \t]*|(?:[-+*]|\d{1,9}[.)])[ \t]+){6})(?=[>+*\d-])/gm;
const RESERVED = /[\ue000\ue001]/g;

function withGap(hasGap: boolean, lines: readonly string[]): readonly string[] {
  return hasGap && lines.length > 0 ? ['', ...lines] : lines;
}
