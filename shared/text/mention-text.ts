/** How a mention is written. Has no schema, so that a web page can use it; mentions.ts reads whole messages. */
import { FILE_SEARCH_LIMITS } from '../limits.ts';

/** Patterns of the `@` where no word ends, and of a path without quotes. */
export const MENTION_SIGN = '(?<![\\p{L}\\p{N}_@/.-])@';
export const BARE_FIRST = '[\\p{L}\\p{N}_./~]';
export const BARE_NEXT = '[\\p{L}\\p{N}_./~@+[\\]-]';
/** One character of a path in quotes. A backslash before a quote or a backslash belongs to the writing. */
export const QUOTED_NEXT = '(?:[^"\\\\\\n]|\\\\[^\\n])';

export function unquoted(written: string): string {
  return written.replace(/\\(["\\])/g, '$1');
}

/** A mention that is being written. */
export interface OpenMention {
  /** Where its `@` is. */
  readonly at: number;
  /** What is written behind it, without quotes. */
  readonly query: string;
}

/** The mention that a person is writing, by the text before the cursor. */
export function openMention(before: string): OpenMention | undefined {
  const near = before.slice(-2 * FILE_SEARCH_LIMITS.maxQueryChars);
  const { index, groups } = OPEN.exec(near) ?? {};
  if (index === undefined) return undefined;
  const query = unquoted(groups?.['quoted'] ?? '') || (groups?.['bare'] ?? '');
  return { at: before.length - near.length + index, query };
}

const LENGTH = `{0,${FILE_SEARCH_LIMITS.maxQueryChars}}`;
const OPEN = new RegExp(
  `${MENTION_SIGN}(?:"(?<quoted>${QUOTED_NEXT}${LENGTH})|(?<bare>(?!@)${BARE_NEXT}${LENGTH}))$`,
  'u',
);

/** The mention of a path, in quotes where it needs them. One with a line end cannot be read again. */
export function mentionOf(path: string): string {
  return BARE.test(path) ? `@${path}` : `@"${path.replace(/["\\]/g, '\\$&')}"`;
}

/** At the end of a path without quotes, a full stop or a bracket may belong to the sentence. */
const BARE = new RegExp(`^${BARE_FIRST}${BARE_NEXT}*(?<![.\\]-])$`, 'u');

/** A part of a message as a client writes it. */
type WrittenPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url' }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'path'; readonly path: string; readonly lines?: NamedLines };

type NamedLines = { readonly from: number; readonly to: number } | undefined;

/** The parts as one text, in which a blank divides each place from the words around it. */
export function joinText(parts: readonly WrittenPart[]): string {
  let text = '';
  let isOpen = false;
  for (const part of parts) {
    if (part.type === 'image_url') continue;
    const written = part.type === 'text' ? part.text : writtenPlace(part);
    const isApart = part.type === 'text' ? !isOpen || beginsApart(written) : endsApart(text);
    text += isApart || written === '' ? written : ` ${written}`;
    if (written !== '') isOpen = part.type !== 'text';
  }
  return text;
}

/** Whether a name may follow the text without a blank. */
export function endsApart(text: string): boolean {
  return /(?:^|[\s([{"'“„«])$/u.test(text);
}

/** Whether the text may follow a name without a blank. */
export function beginsApart(text: string): boolean {
  return /^(?:[\s)\]},;!?"'”“»]|[.:](?:\s|$))/u.test(text);
}

function writtenPlace(part: Exclude<WrittenPart, { type: 'text' | 'image_url' }>): string {
  if (part.type === 'url') return `@${part.url}`;
  const { path, lines } = part;
  return `${mentionOf(path)}${lines ? `:${lines.from}-${lines.to}` : ''}`;
}

/** The paths that a person has chosen while writing a text, by their mentions there. */
export type ChosenPaths = ReadonlyMap<string, string>;

type ChosenPart =
  | { type: 'text'; text: string }
  | { type: 'path'; path: string; lines?: { from: number; to: number } };

/**
 * The text with the chosen paths as parts of their own; the text itself where none is in it. A mention that the person
 * has gone on writing (`@src/` became `@src/a.ts`) is text as before.
 */
export function withChosen(text: string, chosen: ChosenPaths): string | ChosenPart[] {
  if (chosen.size === 0) return text;
  const names = [...chosen.keys()].sort((a, b) => b.length - a.length).map(behindSign);
  const mention = new RegExp(
    `${MENTION_SIGN}(${names.join('|')})(?::(\\d{1,7})(?:-(\\d{1,7}))?)?${ENDS}`,
    'gu',
  );
  const parts: ChosenPart[] = [];
  let end = 0;
  for (const found of text.matchAll(mention)) {
    const [whole, name = '', first, last = first] = found;
    const path = chosen.get(`@${name}`) ?? name;
    const [from, to] = [Number(first), Number(last)];
    parts.push({ type: 'text', text: text.slice(end, found.index) });
    parts.push({ type: 'path', path, ...(from >= 1 && to >= from && { lines: { from, to } }) });
    end = found.index + whole.length;
  }
  if (end === 0) return text;
  return [...parts, { type: 'text' as const, text: text.slice(end) }].filter(
    (part) => part.type === 'path' || part.text !== '',
  );
}

/** A full stop or a bracket behind a path belongs to the sentence, unless the path goes on behind it. */
const ENDS = `(?![.\\]-]*[\\p{L}\\p{N}_/~@+[])`;

/** As a pattern, without the `@`. */
function behindSign(mention: string): string {
  return mention.slice(1).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
