/** What a message names: files, folders and web pages behind an `@`, a skill or a command behind the `/` it begins with. */
import * as z from 'zod';
import { MENTION_LIMITS, REQUEST_LIMITS, SKILL_LIMITS } from '../limits.ts';
import { languageOf } from './languages.ts';
import { BARE_FIRST, BARE_NEXT, MENTION_SIGN, QUOTED_NEXT, unquoted } from './mention-text.ts';

const LineNumber = z.int().positive();

const WebAddress = z.url({ protocol: /^https?$/ }).max(MENTION_LIMITS.maxUrlChars);

export const PathMention = z.object({
  type: z.literal('path'),
  /** As written: relative to the workspace, or absolute. */
  path: z.string().min(1).max(REQUEST_LIMITS.maxPathChars),
  /** Counted from 1. Absent for the whole file. */
  lines: z.object({ from: LineNumber, to: LineNumber }).optional(),
  /** Whether the words can only mean a file or a folder. If it does not exist, the model learns that. */
  isCertain: z.boolean(),
});

export const UrlMention = z.object({ type: z.literal('url'), url: WebAddress });

export const PlaceMention = z.discriminatedUnion('type', [PathMention, UrlMention]);
export type PlaceMention = z.infer<typeof PlaceMention>;

/** The skill or the command that a message calls. */
export const CalledMention = z.object({
  type: z.literal('command'),
  name: z.string().min(1).max(SKILL_LIMITS.maxNameChars),
  /** What follows the name, as written. */
  args: z.string().max(SKILL_LIMITS.maxArgsChars),
});
export type CalledMention = z.infer<typeof CalledMention>;

export type Mention = PlaceMention | CalledMention;

/** The skill or the command that the message may call: its first word behind a `/`. */
export function findCalled(text: string): CalledMention | undefined {
  const [, name, args = ''] = COMMAND.exec(text) ?? [];
  if (name === undefined) return undefined;
  return { type: 'command', name, args: args.slice(0, SKILL_LIMITS.maxArgsChars) };
}

/** A path has more behind its first word: `/home/ada` is none. */
const COMMAND = /^\s*\/(\w[\w.:-]{0,63})(?:\s+([\s\S]*))?$/;

/**
 * Finds `@path`, `@path:10-20`, `@"a path"`, `@file:path`, `@folder/` and `@https://…`, each place once, outside of
 * code. E-mail addresses and calls of decorators (`@Component(`) are no mentions. At most MENTION_LIMITS.maxMentions.
 */
export function findMentions(text: string): PlaceMention[] {
  const prose = text.replace(CODE_OR_QUOTED, (whole) => (whole.startsWith('@') ? whole : ' '));
  const found = new Map<string, PlaceMention>();
  for (const match of prose.matchAll(MENTION)) {
    const mention = match.groups?.['url'] === undefined ? toPath(match) : toUrl(match);
    if (mention) found.set(JSON.stringify({ ...mention, isCertain: undefined }), mention);
    if (found.size === MENTION_LIMITS.maxMentions) break;
  }
  return [...found.values()];
}

/** Where a line of Markdown begins, in a quotation too. */
const LINE_START = '^[ \\t>]{0,16}';

/**
 * Code, and mentions in quotes, whose paths may have the sign of code in them. A fence ends at a line of as many signs at
 * least, or with the text (CommonMark 4.5): signs within a line of the code end nothing.
 */
const CODE_OR_QUOTED = new RegExp(
  [
    `${LINE_START}(?<fence>\`{3,}(?=[^\`\\n]*$)|~{3,})[^]*?(?:${LINE_START}\\k<fence>[\`~]*[ \\t]*$|(?![^]))`,
    '`[^`\\n]*`',
    `${MENTION_SIGN}"${QUOTED_NEXT}{1,1024}"`,
  ].join('|'),
  'gmu',
);

/** Lengths are bounded: nothing longer is a path or an address. */
const MENTION = new RegExp(
  [
    `${MENTION_SIGN}(?:`,
    '(?<url>https?://[^\\s<>"]{1,2100})',
    '|(?<kind>(?:file|folder|path):)?',
    `(?:"(?<quoted>${QUOTED_NEXT}{1,1024})"|(?<bare>${BARE_FIRST}${BARE_NEXT}{0,1100}))`,
    '(?::(?<from>\\d{1,7})(?:-(?<to>\\d{1,7}))?)?',
    ')',
  ].join(''),
  'gu',
);

function toPath({ 0: whole, index, input, groups = {} }: RegExpExecArray): PlaceMention | null {
  const { kind, quoted, bare = '', from, to = from } = groups;
  if (quoted === undefined && input[index + whole.length] === '(') return null;
  const end = bare.includes('[') ? '.-' : '.]-';
  const path = quoted === undefined ? withoutEnd(bare, end) : unquoted(quoted);
  if (path.trim() === '' || path.length > REQUEST_LIMITS.maxPathChars) return null;
  const lines = toLines(from, to);
  const isCertain = (kind ?? quoted ?? lines) !== undefined || looksLikeFile(path);
  return { type: 'path', path, ...(lines && { lines }), isCertain };
}

/** The text without these characters at its end. A pattern such as `/[.-]+$/` takes the square of the text's length. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function toLines(from: string | undefined, to: string | undefined) {
  const [first, last] = [Number(from), Number(to)];
  return first >= 1 && last >= first ? { from: first, to: last } : undefined;
}

/** `@types/node` and `@ada` are no files that are missing, `@src/a.ts` is one. */
function looksLikeFile(path: string): boolean {
  return /\.\w+$/.test(path) && languageOf(path) !== 'plaintext';
}

function toUrl({ groups }: RegExpExecArray): PlaceMention | null {
  const written = groups?.['url'] ?? '';
  const url = withoutEnd(written, `.,;:!?'*_${written.includes('(') ? '' : ')]'}`);
  return WebAddress.safeParse(url).success ? { type: 'url', url } : null;
}
