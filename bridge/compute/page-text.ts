/**
 * The readable text of an HTML page, without a parser: enough for a model to read. Parsers that build a tree take 28 s
 * for a page of 1 MiB that nests on purpose; this takes less than one.
 */

/** Takes time linear in the length. Markup that is never closed ends the text. */
export function textOfHtml(html: string): string {
  // Letters of ASCII only: others can change the length.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let text = '';
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) break;
    text += html.slice(at, open);
    const { end, mark } = skipMarkup(html, lower, open);
    text += mark;
    at = end;
  }
  if (at < html.length) text += html.slice(at);
  return tidied(decodeEntities(text));
}

/** The position behind the markup at `open`, and what stands for it in the text. */
function skipMarkup(html: string, lower: string, open: number): { end: number; mark: string } {
  if (lower.startsWith('<!--', open)) return { end: behind(lower, '-->', open), mark: '' };
  const name = /^<\/?([a-z][a-z0-9]*)/.exec(lower.slice(open, open + MAX_NAME_CHARS))?.[1];
  if (name === undefined && !/[!?/]/.test(html[open + 1] ?? ''))
    return { end: open + 1, mark: '<' };
  const end = behind(lower, '>', open);
  const isStart = html[open + 1] !== '/';
  if (name !== undefined && isStart && UNREAD.has(name)) {
    return { end: behind(lower, '>', behind(lower, `</${name}`, end)), mark: '\n' };
  }
  if (name === 'li' && isStart) return { end, mark: '\n- ' };
  return { end, mark: name !== undefined && BLOCKS.has(name) ? '\n' : '' };
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
    'address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hr li main nav ol p pre section table td th tr ul'
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
