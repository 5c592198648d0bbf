/**
 * Feeds Markdown to the parser, and keeps from it what it would misread: it has no rule for `$` before a name, for `_`
 * inside of one, and for an address with parentheses or without an end. The pieces may be cut anywhere: the result is
 * the same.
 */
import * as smd from 'streaming-markdown';
import { PART_LIMITS } from './limits.ts';
import { MarkdownNodes } from './markdown-nodes.ts';

export class MarkdownWriter {
  readonly #parser: smd.Parser;
  readonly #nodes: MarkdownNodes;
  /** The end of the source so far, which can be read only with the next character. */
  #held = '';
  /** The character before it. */
  #before = '';
  /** What follows `](`, and how many of its parentheses are open. */
  #address: { text: string; depth: number } | undefined;
  #isOver = false;

  /** Appends to `root`, which must be empty. */
  constructor(root: Element) {
    this.#nodes = new MarkdownNodes(root, {
      mark: (token) => markOf(token, this.#parser.fence_start),
      isClosed: (token, mark) => !this.#isOver && isClosed(token, mark, this.#parser.pending),
    });
    this.#parser = newParser(this.#nodes);
  }

  /** Shows more of the source. Not after {@link end}. */
  write(piece: string): void {
    this.#read(this.#held + piece, false);
    this.#nodes.show();
  }

  /** The source ends here: what is open is closed. */
  end(): void {
    this.#read(this.#held, true);
    this.#breakAddress();
    if (this.#parser.pending !== '') this.#readLineEnd(0);
    this.#isOver = true;
    this.#nodes.close();
  }

  /** Takes away all that it appended. */
  remove(): void {
    this.#nodes.remove();
  }

  #read(source: string, isLast: boolean): void {
    let at = 0;
    while (at < source.length) {
      const next = this.#address
        ? this.#readAddress(source, at)
        : this.#readText(source, at, isLast);
      if (next === undefined) break;
      at = next;
      this.#before = source[at - 1] ?? '';
    }
    this.#held = source.slice(at);
  }

  /** Reads up to the next special character, or that one. Returns where it stops; undefined to wait for more. */
  #readText(source: string, at: number, isLast: boolean): number | undefined {
    SPECIAL.lastIndex = at;
    const special = SPECIAL.exec(source)?.index ?? source.length;
    if (special > at) return this.#feed(source.slice(at, special), special);
    const character = source[at] ?? '';
    const next = source[at + 1];
    if (next === undefined && !isLast && NEEDS_NEXT.test(character)) return undefined;
    if (character === '\r') return next === '\n' ? at + 1 : this.#readLineEnd(at + 1);
    if (character === '\n') return this.#readLineEnd(at + 1);
    if (this.#parser.token === smd.RAW_URL && endsAddress(character, this.#parser.pending)) {
      this.#endRawAddress();
    }
    if (character === '(') return this.#readParenthesis(at + 1);
    if (this.#isLiteral()) return this.#feed(character, at + 1);
    if (character === '$') return this.#feed('\\$', at + 1);
    if (character === '\\') return this.#readBackslash(next ?? '', at + 1);
    if (character === '_') return this.#readUnderscores(source, at, isLast);
    // It may begin `<br>`.
    if (character === '<' && next !== 'b') return this.#feedOpening('<', at + 1);
    return this.#feed(character, at + 1);
  }

  #feed(text: string, next: number): number {
    smd.parser_write(this.#parser, text);
    return next;
  }

  /** Whether a special character is one like others: in code, in an address, and in the description of an image. */
  #isLiteral(): boolean {
    const { pending, tokens, len } = this.#parser;
    return pending.startsWith('`') || LITERAL.has(tokens[len] ?? 0);
  }

  /**
   * The parser would read the description of an image on to the end of the source, and take backticks at the end of a
   * line of code for the end of the code.
   */
  #readLineEnd(next: number): number {
    const { token, pending } = this.#parser;
    if (token === smd.IMAGE && pending !== ']') this.#endBracketed(pending);
    if (token === smd.CODE_FENCE && /^[^\n`]+`/.test(pending)) {
      this.#nodes.add_text(undefined, pending);
      this.#parser.pending = '';
    }
    return this.#feed('\n', next);
  }

  /** The parser takes `\(` and `\[` for formulas, and drops a backslash before a letter that is not English. */
  #readBackslash(next: string, at: number): number {
    if (next === '\n' || next === '\r') return at;
    if (next === '(' || next === '[') {
      this.#feed('\\\\', at);
      this.#nodes.add_text(undefined, next);
      return at + 1;
    }
    return PUNCTUATION.test(next) ? this.#feed(`\\${next}`, at + 1) : this.#feed('\\\\', at);
  }

  /** Inside of a word they are part of it, and at its end they can only end what they began. */
  #readUnderscores(source: string, at: number, isLast: boolean): number | undefined {
    let end = at;
    while (source[end] === '_') end++;
    if (end === source.length && !isLast) return undefined;
    const isOpen = UNDERSCORED.has(this.#parser.token);
    const isPart = WORD.test(this.#before) && (!isOpen || WORD.test(source[end] ?? ''));
    return this.#feed(isPart ? '\\_'.repeat(end - at) : source.slice(at, end), end);
  }

  #readParenthesis(next: number): number {
    const parser = this.#parser;
    if (BRACKETED.has(parser.token) && parser.pending === ']') {
      this.#address = { text: '', depth: 0 };
      return next;
    }
    return this.#feedOpening('(', next);
  }

  /** The parser finds an address only where nothing before it is pending. */
  #feedOpening(character: string, next: number): number {
    const parser = this.#parser;
    smd.parser_write(parser, character);
    if (parser.pending === character && INLINE.has(parser.token)) {
      parser.pending = '';
      this.#nodes.add_text(undefined, character);
    }
    return next;
  }

  /** Reads up to the parenthesis that ends the address, or to the end of the line. */
  #readAddress(source: string, at: number): number {
    const address = this.#address;
    ADDRESS_MARK.lastIndex = at;
    const mark = ADDRESS_MARK.exec(source)?.index ?? source.length;
    if (!address) return mark;
    address.text += source.slice(at, mark);
    const character = source[mark] ?? '';
    if (character === '\n' || character === '\r') this.#breakAddress();
    if (character === ')' && address.depth === 0) {
      this.#address = undefined;
      this.#parser.pending = `](${address.text}`;
      return this.#feed(')', mark + 1);
    }
    if (character !== '(' && character !== ')') return mark;
    address.text += character;
    address.depth += character === '(' ? 1 : -1;
    return mark + 1;
  }

  /** The line ends before the address does: all of it is text. */
  #breakAddress(): void {
    if (this.#address) this.#endBracketed(`](${this.#address.text}`);
    this.#address = undefined;
  }

  /** Ends the link or image of the parser, which has no end in the source. */
  #endBracketed(rest: string): void {
    const parser = this.#parser;
    this.#nodes.add_text(undefined, rest);
    parser.pending = '';
    parser.len--;
    parser.token = parser.tokens[parser.len] ?? smd.PARAGRAPH;
    this.#nodes.end_token();
  }

  /** To the parser only a space, a line feed or a backslash ends an address. */
  #endRawAddress(): void {
    smd.parser_write(this.#parser, ' ');
    this.#parser.pending = '';
  }
}

/** The parser's own arrays are too short for what is nested deep: it would lose its place. */
function newParser(nodes: MarkdownNodes): smd.Parser {
  const tokens = new Uint32Array(MOST_NESTED);
  tokens[0] = smd.DOCUMENT;
  return { ...smd.parser(nodes), tokens, spaces: new Uint8Array(MOST_NESTED) };
}

const MOST_NESTED = 1_000;

function markOf(token: smd.Token, backticks: number): string {
  return token === smd.CODE_INLINE ? '`'.repeat(backticks) : (MARKS[token] ?? '');
}

/** What the parser has read of the mark when it ends a token by it. */
function isClosed(token: smd.Token, mark: string, pending: string): boolean {
  switch (token) {
    case smd.CODE_INLINE:
      return pending.trimStart() === mark.slice(1);
    case smd.LINK:
    case smd.IMAGE:
      return pending === ']';
    case smd.STRIKE:
      return pending === '~';
    default: {
      const symbol = mark.slice(0, 1);
      return pending === symbol || pending === symbol + symbol;
    }
  }
}

const MARKS: Readonly<Partial<Record<smd.Token, string>>> = {
  [smd.ITALIC_AST]: '*',
  [smd.ITALIC_UND]: '_',
  [smd.STRONG_AST]: '**',
  [smd.STRONG_UND]: '__',
  [smd.STRIKE]: '~~',
  [smd.LINK]: '[',
  [smd.IMAGE]: '![',
};

const BRACKETED: ReadonlySet<number> = new Set([smd.LINK, smd.IMAGE]);
const UNDERSCORED: ReadonlySet<number> = new Set([smd.ITALIC_UND, smd.STRONG_UND]);
const LITERAL: ReadonlySet<number> = new Set([
  smd.CODE_BLOCK,
  smd.CODE_FENCE,
  smd.CODE_INLINE,
  smd.RAW_URL,
  smd.IMAGE,
]);
const INLINE: ReadonlySet<number> = new Set([
  smd.PARAGRAPH,
  smd.LIST_ITEM,
  smd.TABLE_CELL,
  smd.STRONG_AST,
  smd.STRONG_UND,
  smd.ITALIC_AST,
  smd.ITALIC_UND,
]);

/** The last ones matter only in an address. Half of a character is special at the end of a piece. */
const SPECIAL = /[\\$_\r\n(<>"`|*)\]]|[\ud800-\udbff]$/g;
const NEEDS_NEXT = /[\\<\r\ud800-\udbff]/;
const ADDRESS_MARK = /[()\r\n]/g;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const WORD = /[\p{L}\p{N}]/u;

/** Whether it cannot be part of the address before it. A parenthesis that opens in the address may close there. */
function endsAddress(character: string, address: string): boolean {
  if ('\\<>"`|*'.includes(character)) return true;
  const pair = { ')': '(', ']': '[' }[character];
  if (pair === undefined) return false;
  const isLong = address.length > PART_LIMITS.addressChars;
  return isLong || address.split(pair).length <= address.split(character).length;
}
