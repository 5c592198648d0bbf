/** Makes DOM nodes of what the Markdown parser finds. Text becomes text nodes, and never HTML. */
import { h, render } from 'preact';
import * as smd from 'streaming-markdown';
import { words } from '../words/thread.ts';
import { Code } from './code.tsx';
import { PART_LIMITS } from './limits.ts';
import { isMisleading, linkOf, ownImageOf } from './links.ts';

/** What the parser knows of the source at the moment when it reports a token. */
export interface MarkdownSource {
  /** What the token that begins is written with, such as `**`; empty where a lost one does no harm. */
  mark(token: smd.Token): string;
  /** Whether the token that ends has its mark at its end. Otherwise the text around it ends first. */
  isClosed(token: smd.Token, mark: string): boolean;
}

/** A token that has begun and not ended. */
interface Open {
  readonly token: smd.Token;
  /** Takes the text and the tokens inside. */
  readonly node: Element;
  readonly mark: string;
  /** Whether it has no node of its own, since it is nested too deep or a table is too wide. */
  readonly isFlat: boolean;
  /** Of a link or an image. */
  address?: string;
  /** Of a code block. */
  code: string;
  language: string;
}

/** Appends to `root`, which must be empty. What it appends changes only where a mark turns out to be text. */
export class MarkdownNodes implements smd.Renderer<undefined> {
  readonly data = undefined;
  readonly #source: MarkdownSource;
  readonly #open: Open[];
  readonly #codeHosts: Element[] = [];
  #top: Open;
  /** Text that came between two blocks, as it does where a table has no second row. It begins the next block. */
  #stray = '';
  /** Text of the innermost token that has no node yet: a browser takes a long piece as fast as a short one. */
  #text = '';

  constructor(root: Element, source: MarkdownSource) {
    this.#source = source;
    this.#top = newOpen(smd.DOCUMENT, root, '', false);
    this.#open = [this.#top];
  }

  readonly add_token = (_: undefined, token: smd.Token): void => {
    if (this.#stray !== '') this.add_text(undefined, '');
    this.#showText();
    const { node: parent } = this.#top;
    const isDeep = this.#open.length > PART_LIMITS.markdownDepth && !ALWAYS_NODES.has(token);
    const isBeyond =
      token === smd.TABLE_CELL && parent.childElementCount >= PART_LIMITS.tableColumns;
    const isFlat = isDeep || isBeyond;
    const node = isFlat ? (isBeyond && parent.lastElementChild) || parent : placed(token, parent);
    this.#top = newOpen(token, node, this.#source.mark(token), isFlat);
    this.#open.push(this.#top);
    if (CODE_BLOCKS.has(token)) this.#codeHosts.push(node);
    // A link shows its bracket until its address is complete.
    if (BRACKETED.has(token)) node.append(this.#top.mark);
  };

  readonly end_token = (): void => {
    this.#showText();
    const ended = this.#open.pop();
    this.#top = this.#open.at(-1) ?? this.#top;
    if (!ended) return;
    const isClosed = this.#source.isClosed(ended.token, ended.mark);
    if (BLOCKS.has(ended.node.localName)) ended.node.setAttribute('dir', 'auto');
    if (CODE_BLOCKS.has(ended.token)) showCode(ended, false);
    else if (BRACKETED.has(ended.token)) endBracketed(ended, isClosed);
    else if (ended.token === smd.RAW_URL) endAddress(ended);
    else if (ended.mark !== '' && !ended.isFlat) endMarked(ended, isClosed);
  };

  readonly add_text = (_: undefined, text: string): void => {
    const all = this.#stray + text;
    const { token } = this.#top;
    this.#stray = CONTAINERS.has(token) ? all : '';
    if (CODE_BLOCKS.has(token)) this.#top.code += all;
    else if (this.#stray === '') this.#text += all;
  };

  readonly set_attr = (_: undefined, type: smd.Attr, value: string): void => {
    if (type === smd.HREF || type === smd.SRC) this.#top.address = value;
    else if (type === smd.LANG) this.#top.language = value.trim();
    else if (type === smd.START) this.#top.node.setAttribute('start', value);
    else if (type === smd.CHECKED) this.#top.node.textContent = CHECKED_BOX;
  };

  /** Shows all that has come. */
  show(): void {
    this.#showText();
    if (CODE_BLOCKS.has(this.#top.token)) showCode(this.#top, true);
  }

  /** Ends every token. */
  close(): void {
    while (this.#open.length > 1) this.end_token();
    appendText(this.#top.node, this.#stray);
  }

  #showText(): void {
    appendText(this.#top.node, this.#text);
    this.#text = '';
  }

  /** Takes the nodes out of the root. */
  remove(): void {
    for (const host of this.#codeHosts) render(null, host);
    this.#open[0]?.node.replaceChildren();
  }
}

function newOpen(token: smd.Token, node: Element, mark: string, isFlat: boolean): Open {
  return { token, node, mark, isFlat, code: '', language: '' };
}

const CODE_BLOCKS: ReadonlySet<number> = new Set([smd.CODE_BLOCK, smd.CODE_FENCE]);
const BRACKETED: ReadonlySet<number> = new Set([smd.LINK, smd.IMAGE]);
/** They have blocks inside, and no text of their own. */
const CONTAINERS: ReadonlySet<number> = new Set([
  smd.DOCUMENT,
  smd.BLOCKQUOTE,
  smd.LIST_ORDERED,
  smd.LIST_UNORDERED,
  smd.TABLE,
  smd.TABLE_ROW,
]);
/** They nest nothing. */
const ALWAYS_NODES: ReadonlySet<number> = new Set([
  ...CODE_BLOCKS,
  smd.LINE_BREAK,
  smd.RULE,
  smd.CHECKBOX,
]);

/** The page has a heading of its own above: a text's begin with `h3`. */
const ELEMENTS: Readonly<Partial<Record<smd.Token, string>>> = {
  [smd.BLOCKQUOTE]: 'blockquote',
  [smd.PARAGRAPH]: 'p',
  [smd.LINE_BREAK]: 'br',
  [smd.RULE]: 'hr',
  [smd.HEADING_1]: 'h3',
  [smd.HEADING_2]: 'h4',
  [smd.HEADING_3]: 'h5',
  [smd.HEADING_4]: 'h6',
  [smd.HEADING_5]: 'h6',
  [smd.HEADING_6]: 'h6',
  [smd.ITALIC_AST]: 'em',
  [smd.ITALIC_UND]: 'em',
  [smd.STRONG_AST]: 'strong',
  [smd.STRONG_UND]: 'strong',
  [smd.STRIKE]: 's',
  [smd.CODE_INLINE]: 'code',
  [smd.RAW_URL]: 'a',
  [smd.LINK]: 'a',
  [smd.LIST_UNORDERED]: 'ul',
  [smd.LIST_ORDERED]: 'ol',
  [smd.LIST_ITEM]: 'li',
  [smd.CODE_BLOCK]: 'div',
  [smd.CODE_FENCE]: 'div',
};

/**
 * Each has a direction of its own: one in Arabic leaves the order of the next as it is. Until it ends only its style
 * says so: with the attribute a browser reads the whole block again for each piece of text.
 */
const BLOCKS: ReadonlySet<string> = new Set(['p', 'h3', 'h4', 'h5', 'h6', 'li', 'th', 'td']);

const OPEN_BOX = '☐';
const CHECKED_BOX = '☑';

function placed(token: smd.Token, parent: Element): Element {
  switch (token) {
    case smd.TABLE: {
      const box = append(parent, 'div');
      box.className = 'sideways';
      // The keyboard scrolls what has the focus (WCAG 2.1.1).
      box.tabIndex = 0;
      return append(box, 'table');
    }
    case smd.TABLE_ROW: {
      const isFirst = !parent.hasChildNodes();
      const last = parent.lastElementChild;
      const section =
        last?.tagName === 'TBODY' ? last : append(parent, isFirst ? 'thead' : 'tbody');
      return append(section, 'tr');
    }
    case smd.TABLE_CELL:
      return append(parent, parent.parentElement?.tagName === 'THEAD' ? 'th' : 'td');
    case smd.CHECKBOX: {
      const box = append(parent, 'span');
      box.className = 'box';
      box.textContent = OPEN_BOX;
      return box;
    }
    default:
      return append(parent, ELEMENTS[token] ?? 'span');
  }
}

function append(parent: Element, name: string): HTMLElement {
  const node = document.createElement(name);
  parent.append(node);
  return node;
}

/** A browser copies a text node that grows: each takes only so much. */
function appendText(node: Element, given: string): void {
  if (given === '') return;
  const text = given.replaceAll(TURNING, '\ufffd');
  const last = node.lastChild;
  if (last instanceof Text && last.length < PART_LIMITS.textNodeChars) last.appendData(text);
  else node.append(text);
}

/** What turns letters around. The marks and isolates that right-to-left text needs do not. */
const TURNING = /[\u202a-\u202e]/g;

function showCode({ node, code, language }: Open, isOpen: boolean): void {
  render(h(Code, { text: code.replace(/\n$/, ''), language, isOpen }), node);
}

/** What has only one mark, or nothing between two, is text with marks. */
function endMarked({ node, mark }: Open, isClosed: boolean): void {
  if (!isClosed) return unwrap(node, mark);
  if (node.hasChildNodes()) return;
  const { parentElement } = node;
  node.remove();
  if (parentElement) appendText(parentElement, mark + mark);
}

/** A link or an image, or what looked like one. */
function endBracketed({ token, node, mark, address, isFlat }: Open, isClosed: boolean): void {
  const isReplaced =
    address !== undefined &&
    !isFlat &&
    (token === smd.LINK ? toLink : toImage)(node, mark, address);
  if (isReplaced) return;
  if (address !== undefined) node.append(`](${address})`);
  else if (isClosed) node.append(']');
  if (!isFlat) unwrap(node, '');
}

function toLink(node: Element, mark: string, address: string): boolean {
  const link = linkOf(address);
  if (!link) return false;
  if (node.firstChild instanceof Text) node.firstChild.deleteData(0, mark.length);
  // Links do not nest: that of an image inside gives way.
  for (const inner of node.querySelectorAll('a')) inner.removeAttribute('href');
  pointTo(node, link.href, link.place);
  return true;
}

/** An image of another server is never loaded: its address could carry what the model has read. */
function toImage(node: Element, mark: string, address: string): boolean {
  const description = node.textContent.slice(mark.length);
  const own = ownImageOf(address);
  const link = linkOf(address);
  if (own !== undefined) {
    const image = document.createElement('img');
    image.alt = description;
    image.src = own;
    node.replaceWith(image);
    return true;
  }
  if (!link) return false;
  const door = document.createElement('a');
  door.className = 'image';
  door.textContent = [words.imageOf(link.place), description].filter(Boolean).join(' · ');
  pointTo(door, link.href);
  node.replaceWith(door);
  return true;
}

/** An address in the text. What ends the sentence does not belong to it. */
function endAddress({ node, isFlat }: Open): void {
  if (isFlat) return;
  const text = node.textContent;
  const address = text.replace(/[.,;:!?]+$/, '');
  const link = linkOf(address);
  if (!link) return unwrap(node, '');
  node.textContent = address;
  node.after(text.slice(address.length));
  pointTo(node, link.href, link.place);
}

/** A text that looks like another address is followed by the place that the link leads to. */
function pointTo(node: Element, href: string, place?: string): void {
  node.setAttribute('href', href);
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
  if (place === undefined || !isMisleading(node.textContent, place)) return;
  const note = document.createElement('span');
  note.className = 'place-of';
  note.dir = 'ltr';
  note.textContent = ` (${place})`;
  node.after(note);
}

function unwrap(node: Element, mark: string): void {
  node.replaceWith(mark, ...node.childNodes);
}
