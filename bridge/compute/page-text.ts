/**
 * An HTML page as Markdown, without a parser: enough for a model to read. Parsers that build a tree take 28 s for a page
 * of 1 MiB that nests on purpose; this takes less than one.
 */

export interface HtmlPage {
  readonly html: string;
  /** The page's address. Links are written whole. */
  readonly base: string;
}

/** Takes time linear in the length. Markup that is never closed ends the text. */
export function markdownOfHtml({ html, base }: HtmlPage): string {
  // Letters of ASCII only: others can change the length.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const page: PageText = { base, pieces: [], isPlain: false };
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    addText(page, html.slice(at, open < 0 ? html.length : open));
    if (open < 0) break;
    const { end, name, isStart, isText } = readTag(html, lower, open);
    if (isText) page.pieces.push('<');
    else if (name !== undefined) addTag(page, { name, isStart, source: html.slice(open, end) });
    at = end;
  }
  return tidied(page.pieces.join('')).replace(KEPT, (mark) => WHITE[MARKS.indexOf(mark)] ?? '');
}

interface PageText {
  readonly base: string;
  readonly pieces: string[];
  /** Whether the text is preformatted. */
  isPlain: boolean;
  /** The open link, and the number of pieces before its text. */
  link?: { readonly href: string; readonly from: number } | undefined;
}

/** Blanks of preformatted text become private characters until the rest is tidied. */
function addText({ pieces, isPlain }: PageText, source: string): void {
  if (source === '') return;
  const text = decodeEntities(source);
  pieces.push(
    isPlain ? text.replace(/[ \t\n]/g, (blank) => MARKS[WHITE.indexOf(blank)] ?? '') : text,
  );
}

const WHITE = ' \t\n';
const MARKS = '\u{E000}\u{E001}\u{E002}';
const KEPT = /[\u{E000}-\u{E002}]/gu;

interface Tag {
  readonly name: string;
  readonly isStart: boolean;
  readonly source: string;
}

function addTag(page: PageText, { name, isStart, source }: Tag): void {
  const { pieces } = page;
  if (name === 'a') {
    endLink(page);
    if (isStart) startLink(page, source);
  } else if (name === 'pre') {
    if (page.isPlain !== isStart) pieces.push('\n```\n');
    page.isPlain = isStart;
  } else if (name === 'code' && !page.isPlain) pieces.push('`');
  else if (/^h[1-6]$/.test(name)) pieces.push(isStart ? `\n${'#'.repeat(Number(name[1]))} ` : '\n');
  else if (name === 'li' && isStart) pieces.push('\n- ');
  else if ((name === 'td' || name === 'th') && isStart) pieces.push(' | ');
  else if (BLOCKS.has(name)) pieces.push('\n');
}

function startLink(page: PageText, source: string): void {
  const [, quoted, bare] =
    /\shref\s*=\s*(?:["']([^"']{1,2000})["']|([^\s"'>]{1,2000}))/i.exec(source) ?? [];
  const written = decodeEntities(quoted ?? bare ?? '');
  if (written === '' || written.startsWith('#') || !URL.canParse(written, page.base)) return;
  const { href, protocol } = new URL(written, page.base);
  if (!/^https?:$/.test(protocol)) return;
  page.pieces.push('[');
  page.link = { href: href.replace(/[()]/g, encodeURIComponent), from: page.pieces.length };
}

/** A link without text, such as an icon, is left out. */
function endLink(page: PageText): void {
  const { link, pieces } = page;
  if (!link) return;
  page.link = undefined;
  if (pieces.slice(link.from).every((piece) => piece.trim() === '')) pieces.length = link.from - 1;
  else pieces.push(`](${link.href})`);
}

/** The markup at `open`. A start of `UNREAD` reaches behind its end. `isText`: it is no markup but a lone `<`. */
function readTag(html: string, lower: string, open: number) {
  const none = { name: undefined, isStart: false, isText: false };
  if (lower.startsWith('<!--', open)) return { ...none, end: behind(lower, '-->', open) };
  const name = /^<\/?([a-z][a-z0-9]*)/.exec(lower.slice(open, open + MAX_NAME_CHARS))?.[1];
  if (name === undefined && !/[!?/]/.test(html[open + 1] ?? '')) {
    return { ...none, end: open + 1, isText: true };
  }
  const end = behind(lower, '>', open);
  const isStart = html[open + 1] !== '/';
  if (name !== undefined && isStart && UNREAD.has(name)) {
    return {
      name: 'br',
      isStart,
      isText: false,
      end: behind(lower, '>', behind(lower, `</${name}`, end)),
    };
  }
  return { name, isStart, isText: false, end };
}

function behind(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at + mark.length;
}

function decodeEntities(text: string): string {
  return text.replace(/&(#x?[0-9a-f]{1,6}|[a-z]{2,6});/gi, (whole, entity: string) => {
    if (!entity.startsWith('#')) return ENTITIES.get(entity.toLowerCase()) ?? whole;
    const isHex = /^#x/i.test(entity);
    const code = Number.parseInt(entity.slice(isHex ? 2 : 1), isHex ? 16 : 10);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : whole;
  });
}

/** One blank between words, and at most one empty line. */
function tidied(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim());
  return lines
    .filter((line, index) => line !== '' || (lines[index - 1] ?? '') !== '')
    .join('\n')
    .trim();
}

const MAX_NAME_CHARS = 20;

/** Elements whose content is no text for readers. */
const UNREAD = new Set(['script', 'style', 'head', 'template', 'svg', 'noscript', 'iframe']);

const BLOCKS = new Set(
  (
    'address article aside blockquote br dd div dl dt fieldset figcaption figure footer form ' +
    'header hr li main nav ol p section table tr ul'
  ).split(' '),
);

const ENTITIES = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
]);
