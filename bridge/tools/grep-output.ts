/** Shows ripgrep's matches as text for the model: bounded, and without files that may not be shown. */
import * as z from 'zod';
import { cutAround, cutLine } from '../../machine/result-lines.ts';
import {
  LongRecord,
  type Ripgrep,
  runRipgrep,
  type Sighting,
} from '../../packages/code-index/index.ts';
import { lineTexts } from '../../packages/edits/text.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { KeyLines } from './key-lines.ts';

export interface GrepView {
  readonly search: Ripgrep;
  /** The most matches, files or counts that are shown. */
  readonly limit: number;
  /** Turns a name relative to the searched folder into one relative to the workspace. */
  readonly nameOf: (name: string) => string;
  /** Takes names relative to the searched folder. */
  readonly mayShow: (name: string) => boolean;
  /** Whether the file of this name really holds these bytes, see {@link Sightings}. */
  readonly confirm: (name: string, found: Pick<Sighting, 'offset' | 'bytes'>) => Promise<boolean>;
  /** See {@link Sightings.read}. */
  readonly read: (name: string, offset: number, length: number) => Promise<Uint8Array | null>;
}

/** Matching lines (`12:text`) and lines around them (`12-text`), below the name of their file. */
export async function showMatches(view: GrepView): Promise<string> {
  const { search, limit, nameOf } = view;
  const page = new GrepPage(limit, 'match', 'matches');
  let file = '';
  let next = 0;
  for await (const found of foundBy(view)) {
    if (found.isMatch && !page.admit()) break;
    const isGap = found.name === file && search.flags.some(asksContext) && found.number !== next;
    if (found.name !== file) page.add(`${file === '' ? '' : '\n'}${nameOf(found.name)}`);
    else if (isGap) page.add('--');
    const sign = found.isMatch ? ':' : '-';
    found.lines.forEach((line, index) => {
      const cut = index === 0 ? cutAround(line, found.at) : cutLine(line);
      page.add(`${found.number + index}${sign}${cut}`);
    });
    [file, next] = [found.name, found.number + found.lines.length];
    if (page.isFull) break;
  }
  return page.toString();
}

/** The names of files with a match. */
export async function showFiles(view: GrepView): Promise<string> {
  const page = new GrepPage(view.limit, 'file', 'files');
  let file = '';
  for await (const { name } of foundBy(view)) {
    if (name === file) continue;
    if (!page.admit()) break;
    page.add(view.nameOf(name));
    if (page.isFull) break;
    file = name;
  }
  return page.toString();
}

/** `name:count` for each file with a match. Counts matching lines; where a match may span lines, counts matches. */
export async function showCounts(view: GrepView): Promise<string> {
  const page = new GrepPage(view.limit, 'file', 'files');
  const spansLines = view.search.flags.includes('--multiline');
  let file = '';
  let count = 0;
  const close = () => {
    if (count > 0) page.add(`${view.nameOf(file)}:${count}`);
  };
  for await (const { name, matches } of foundBy(view)) {
    if (name !== file) {
      close();
      [file, count] = [name, 0];
      if (page.isFull || !page.admit()) break;
    }
    count += spansLines ? matches : 1;
  }
  close();
  return page.toString();
}

/** The matches that may be shown. */
async function* foundBy(view: GrepView): AsyncGenerator<FoundLine> {
  const { search, mayShow, confirm } = view;
  const keys = new KeyLines(view.read);
  let seen = { name: '', number: 0 };
  let apart = '';
  for await (const record of recordsOf(search)) {
    if (record instanceof LongRecord) {
      const name = longMatchIn(record);
      if (name === undefined || name === apart || !mayShow(name)) continue;
      apart = name;
      yield* foundInLong(view, name, seen.name === name ? seen.number : 0);
      continue;
    }
    const found = parseRecord(record);
    if (found === null || found.name === apart || !mayShow(found.name)) continue;
    if (!(await confirm(found.name, found))) continue;
    if (found.isMatch) seen = { ...found, number: found.number + found.lines.length - 1 };
    yield { ...found, lines: await keys.masked(found) };
  }
}

/** One by one: each is looked up in its file. */
async function* recordsOf(search: Ripgrep): AsyncGenerator<string | LongRecord> {
  for await (const records of runRipgrep(search)) yield* records;
}

/** The file of a match in a line too long for one record; undefined for a line of context. */
function longMatchIn({ head }: LongRecord): string | undefined {
  const [, path] = LONG_MATCH.exec(head) ?? [];
  const parsed = Bytes.safeParse(path === undefined ? undefined : JSON.parse(path));
  return parsed.success ? toName(parsed.data.toString()) : undefined;
}

const LONG_MATCH = /^{"type":"match","data":{"path":({"(?:text|bytes)":"(?:[^"\\]|\\.)*"})/;

/** The matches of one file after a line, without their lines: the file is searched again, and we read around each. */
async function* foundInLong(
  view: GrepView,
  name: string,
  after: number,
): AsyncGenerator<FoundLine> {
  const { search, read } = view;
  const flags = [...search.flags.filter(isAboutPattern), ...MATCHES_ALONE];
  const spansLines = flags.includes('--multiline');
  let last = after;
  for await (const record of recordsOf({ ...search, flags, target: `./${name}` })) {
    const text = record instanceof LongRecord ? record.head : record;
    const [head, line, offset] = /^(\d+):(\d+):/.exec(text) ?? [];
    const number = Number(line);
    if (head === undefined || number <= after || (number === last && !spansLines)) continue;
    last = number;
    const match = Buffer.from(text.slice(head.length));
    const around = await lookAround(Number(offset), match, (...part) => read(name, ...part));
    if (around === undefined) continue;
    const known = { isMatch: true, name, number, matches: 1, at: 0, offset: Number(offset) };
    yield { ...known, lines: [around], bytes: match };
  }
}

const MATCHES_ALONE = ['--only-matching', '--line-number', '--byte-offset', '--no-filename'];

function isAboutPattern(flag: string): boolean {
  return /^--(?:ignore-case|multiline|multiline-dotall|max-count=|regexp=)/.test(flag);
}

/** The part of its line around a match; undefined where the file does not have the match there. */
async function lookAround(
  offset: number,
  match: Buffer,
  read: (offset: number, length: number) => Promise<Uint8Array | null>,
): Promise<string | undefined> {
  const { maxLineChars } = TOOL_LIMITS;
  const start = Math.max(0, offset - maxLineChars / 4);
  const bytes = await read(start, maxLineChars);
  if (bytes === null) return undefined;
  const there = bytes.subarray(offset - start);
  const isText = !match.includes(REPLACEMENT);
  if (isText && !match.subarray(0, there.length).equals(there.subarray(0, match.length))) {
    return undefined;
  }
  const line = bytes.subarray(0, offset - start).lastIndexOf(NEWLINE) + 1;
  const end = there.indexOf(NEWLINE);
  const isCut = { before: line === 0 && start > 0, after: end < 0 };
  const shown = bytes.subarray(line, end < 0 ? bytes.length : offset - start + end);
  const whole = new TextDecoder().decode(shown, { stream: true }).replace(/^\ufffd{1,3}|\r$/g, '');
  return `${isCut.before ? '…' : ''}${whole}${isCut.after ? '…' : ''}`;
}

const NEWLINE = 0x0a;
const REPLACEMENT = '\ufffd';

/** Lines up to a bound, and the sentence that says whether there are more. */
class GrepPage {
  readonly #lines: string[] = [];
  readonly #limit: number;
  readonly #one: string;
  readonly #many: string;
  #admitted = 0;
  #chars = 0;
  #isCut = false;

  constructor(limit: number, one: string, many: string) {
    this.#limit = limit;
    this.#one = one;
    this.#many = many;
  }

  get isFull(): boolean {
    return this.#chars > TOOL_LIMITS.maxResultChars;
  }

  /** Counts one more entry; false when there is no room for it. */
  admit(): boolean {
    if (this.#admitted === this.#limit || this.isFull) this.#isCut = true;
    else this.#admitted++;
    return !this.#isCut;
  }

  add(line: string): void {
    this.#chars += line.length + 1;
    if (this.isFull) this.#isCut = true;
    else this.#lines.push(line);
  }

  toString(): string {
    if (this.#admitted === 0) return '(No matches. Ignored files are not searched.)';
    const things = this.#admitted === 1 ? this.#one : this.#many;
    const summary = this.#isCut
      ? `(At least ${this.#admitted} ${things}, not all are shown: narrow the search by path, glob, type or pattern.)`
      : `(${this.#admitted} ${things}.)`;
    return [...this.#lines, summary].join('\n');
  }
}

/** A matching line (or several lines that match together), or a line of context. */
interface FoundLine {
  readonly isMatch: boolean;
  readonly name: string;
  readonly number: number;
  readonly lines: readonly string[];
  readonly matches: number;
  /** Where the first match begins, in UTF-16 units of the first line. */
  readonly at: number;
  readonly offset: number;
  readonly bytes: Buffer;
}

/** ripgrep writes text that is not UTF-8 as base64. */
const Bytes = z.union([
  z.object({ text: z.string() }).transform(({ text }) => Buffer.from(text)),
  z.object({ bytes: z.base64() }).transform(({ bytes }) => Buffer.from(bytes, 'base64')),
]);

const FoundRecord = z.object({
  type: z.enum(['match', 'context']),
  data: z.object({
    path: Bytes,
    lines: Bytes,
    line_number: z.int(),
    absolute_offset: z.int(),
    submatches: z.array(z.object({ start: z.int() })),
  }),
});

/** Null for records without lines: begin, end and summary. */
function parseRecord(record: string): FoundLine | null {
  const parsed = FoundRecord.safeParse(JSON.parse(record));
  if (!parsed.success) return null;
  const { type, data } = parsed.data;
  return {
    isMatch: type === 'match',
    name: toName(data.path.toString()),
    number: data.line_number,
    lines: lineTexts(data.lines.toString().replace(/\r?\n$/, '')),
    matches: data.submatches.length,
    at: data.lines.subarray(0, data.submatches[0]?.start ?? 0).toString().length,
    offset: data.absolute_offset,
    bytes: data.lines,
  };
}

function toName(path: string): string {
  return path.replace(/^\.[/\\]/, '');
}

function asksContext(flag: string): boolean {
  return /^--(?:after-|before-)?context=/.test(flag);
}
