/**
 * Finds private keys in the text form of RFC 7468, in files, in strings of programs, in addresses, and behind the
 * prefixes of lines.
 */
import { SECRET_LIMITS } from './limits.ts';

/** What the first line of a key begins with, and the last one. */
export const KEY_BEGIN = '-----BEGIN';
export const KEY_END = '-----END';

/** What stands at a place of a text. `open`: more of the text decides. Each of `parts` is shown as `mask`. */
export type SecretLook =
  | { readonly state: 'open' }
  /** `to`: up to there no other secret of the kind begins. */
  | { readonly state: 'none'; readonly to?: number }
  | {
      readonly state: 'found';
      readonly parts: readonly SecretPart[];
      readonly mask: string;
    };

interface SecretPart {
  readonly from: number;
  readonly to: number;
}

/**
 * Looks at a first line. The lines stay, with their prefixes: in each `mask` takes the place of the key's part. A key
 * that is cut is masked as far as it goes.
 */
export function keyAt(
  text: string,
  at: number,
  { isEnd, mask }: { readonly isEnd: boolean; readonly mask: string },
): SecretLook {
  const first = lineAt(text, at, KEY_BEGIN, isEnd);
  if (first.state !== 'whole') return first;
  const around = { isEnd, isAdded: text[at - 1] === '+', isWord: text.startsWith('{+', at - 2) };
  const body = readKeyText(text, first.to, around);
  if (body === undefined) return { state: 'open' };
  return isKey(text, body, first.label)
    ? { state: 'found', parts: body.parts, mask }
    : { state: 'none' };
}

/**
 * Looks at a last line, for the key above it whose first lines are missing: where an output begins in the middle. Lines
 * that end with 64 characters of base64 are parts of one. `from`: what stands before has been shown.
 */
export function keyAbove(
  text: string,
  at: number,
  { from, isEnd, mask }: { readonly from: number; readonly isEnd: boolean; readonly mask: string },
): SecretLook {
  const last = lineAt(text, at, KEY_END, isEnd);
  if (last.state !== 'whole') return last;
  const tail = tailAbove(text, at, from);
  if (tail === undefined || tail.isBegun) return { state: 'none' };
  const earliest = Math.max(from, at - SECRET_LIMITS.maxKeyChars);
  const parts = tail.parts
    .map((part) => ({ from: Math.max(part.from, earliest), to: part.to }))
    .filter((part) => part.from < part.to);
  const body = parts.map((part) => text.slice(part.from, part.to)).join('');
  return new Set(body).size < MIN_DISTINCT || parts.length === 0
    ? { state: 'none' }
    : { state: 'found', parts, mask };
}

/** From where on the end of a text may be the end of a key whose last line follows; the text's length for nowhere. */
export function tailFrom(text: string, from: number): number {
  const tail = tailAbove(text, text.length, from);
  const earliest = text.length - SECRET_LIMITS.maxKeyChars;
  if (tail !== undefined) return Math.max(tail.parts[0]?.from ?? text.length, earliest);
  const line = text.slice(text.lastIndexOf('\n') + 1);
  if (line.length > SECRET_LIMITS.maxLineChars) return text.length;
  const [run = ''] = /[A-Za-z0-9+/]+\r?$/.exec(line) ?? [];
  const isShort = run.length < SECRET_LIMITS.shownTailChars || run.length > LINE + 2;
  return isShort ? text.length : text.length - run.length + SECRET_LIMITS.shownTailChars;
}

/** The lines of a key above the line at a place. `isBegun`: its first line stands above them. */
function tailAbove(
  text: string,
  at: number,
  from: number,
): { readonly parts: readonly SecretPart[]; readonly isBegun: boolean } | undefined {
  const parts: SecretPart[] = [];
  let end = text.lastIndexOf('\n', at - 1);
  if (end < from || at - end > SECRET_LIMITS.maxLineChars) return undefined;
  for (let isLast = true; end >= from; isLast = false) {
    const begin = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    const line = text.slice(Math.max(begin, end - SECRET_LIMITS.maxLineChars - 1), end);
    const isLong = line.length > SECRET_LIMITS.maxLineChars;
    const run = (isLong ? undefined : LAST_RUN.exec(line)?.[0].replace('\r', '')) ?? '';
    const to = end - (line.endsWith('\r') ? 1 : 0);
    // Behind the `+` of a diff, which is one of these characters.
    const isAdded = run.length === LINE + 1 && begin === to - run.length && run.startsWith('+');
    if (run.length === LINE || isAdded) parts.unshift({ from: to - LINE, to });
    else if (isLast && run.length > 0 && run.length < LINE) {
      parts.unshift({ from: to - run.length, to });
    } else break;
    end = begin - 1;
  }
  const [first, ...others] = parts;
  if (first === undefined || (others.length === 0 && first.to - first.from < LINE))
    return undefined;
  return {
    parts: [{ from: first.from + SECRET_LIMITS.shownTailChars, to: first.to }, ...others],
    isBegun: end > 0 && text.slice(text.lastIndexOf('\n', end - 1) + 1, end).includes(KEY_BEGIN),
  };
}

/** Characters of a line of a key (RFC 7468). */
const LINE = 64;
const LAST_RUN = /[A-Za-z0-9+/]+={0,2}\r?$/;
/** Of 44 random characters of base64 are 32 different ones. */
const MIN_DISTINCT = 18;

/** The line that begins or ends a private key. */
function lineAt(
  text: string,
  at: number,
  begin: string,
  isEnd: boolean,
): { state: 'open' | 'none' } | { state: 'whole'; label: string; to: number } {
  LABEL.lastIndex = at + begin.length;
  const [rest, label = ''] = LABEL.exec(text) ?? [];
  if (rest !== undefined) return { state: 'whole', label, to: LABEL.lastIndex };
  const isOpen =
    !isEnd && text.length - at < MAX_FIRST_LINE && BEGUN.test(text.slice(at + begin.length));
  return { state: isOpen ? 'open' : 'none' };
}

/** Addresses write a blank as `%20` or `+`. */
const LABEL =
  /(?: |%20|\+)((?:[A-Z0-9]+(?: |%20|\+)){0,3}PRIVATE(?: |%20|\+)KEY(?:(?: |%20|\+)BLOCK)?)-----/y;
const BEGUN = /^[A-Z0-9 %+]*-{0,5}$/;
const MAX_FIRST_LINE = 100;

/** What stands below a first line. */
interface KeyText {
  /** The texts in base64, in their order. */
  readonly parts: readonly SecretPart[];
  /** Whether the line that ends a key follows. */
  readonly isWhole: boolean;
  /** Whether a header says that the key is encrypted. */
  readonly isEncrypted: boolean;
}

/**
 * Goes from line to line until the one that ends a key, or until lines that are none of a key. Undefined where more of
 * the text decides. `isAdded`: the first line stands behind the `+` of a diff; `isWord`: behind that of a diff of words.
 */
function readKeyText(
  text: string,
  begin: number,
  {
    isEnd,
    isAdded,
    isWord,
  }: { readonly isEnd: boolean; readonly isAdded: boolean; readonly isWord: boolean },
): KeyText | undefined {
  const limit = begin + SECRET_LIMITS.maxKeyChars;
  const parts: SecretPart[] = [];
  let others: SecretPart[] = [];
  let strange = 0;
  let isEncrypted = false;
  /** What stands before the key's part of a line. */
  let before = '';
  for (let from = begin; from < limit; ) {
    STOP.lastIndex = from;
    const found = STOP.exec(text);
    if (found === null && !isEnd && text.length < limit) return undefined;
    const stop = found !== null && found.index < limit ? found : null;
    const to = stop?.index ?? Math.min(text.length, limit);
    const line = text.slice(from, to);
    isEncrypted ||= line.includes('ENCRYPTED');
    const skipped = isWord && line.startsWith('{+') ? 2 : isAdded && line.startsWith('+') ? 1 : 0;
    const start = from + skipped;
    const shown = text.slice(start, isWord && line.endsWith('+}') ? to - 2 : to);
    const long = [...shown.matchAll(LONG_RUN)].map(({ index, 0: run }) => ({
      from: start + index,
      to: start + index + run.length,
    }));
    const after = (long.at(-1)?.to ?? start) - start;
    const short = shortRun(shown.slice(after), long.length > 0 ? undefined : before);
    const shorts = short === undefined ? [] : [moved(short, start + after)];
    if (stop?.[0] === KEY_END) {
      return { parts: [...parts, ...others, ...long, ...shorts], isWhole: true, isEncrypted };
    }
    const [first] = long;
    if (first !== undefined) {
      parts.push(...others, ...long);
      before = text.slice(start, first.from);
      others = [];
      strange = 0;
    } else if (/[A-Za-z0-9]/.test(line)) {
      strange++;
      if (parts.length > 0) others.push(...shorts);
    }
    const isOver = strange > (parts.length > 0 ? MAX_LAST_LINES : MAX_HEADERS);
    if (isOver || stop === null || stop[0] === KEY_BEGIN) break;
    from = to + stop[0].length;
  }
  return { parts, isWhole: false, isEncrypted };
}

/** A character of base64, also as addresses, strings of programs and HTML write it. */
const CHAR = String.raw`(?:[A-Za-z0-9+/]|%2[BFbf]|\\{1,4}(?:/|u002[BFbf]|x2[BFbf])|&#(?:x2[BFbf]|4[37]);)`;
const PAD = String.raw`(?:=|%3[Dd]|\\{1,4}(?:u003|x3)[Dd]|&#(?:x3[Dd]|61);){0,2}`;
const WRITTEN_CHAR =
  /%([\dA-Fa-f]{2})|\\+(?:u00|x)([\dA-Fa-f]{2})|\\+|&#x([\dA-Fa-f]{2});|&#(\d\d);/g;
/** The end of a line, also in a string, an address or HTML, and the lines that begin and end a key. */
const STOP =
  /\r?\n|(?:\\{1,4}r)?\\{1,4}n|\r|(?:%0[Dd])?%0[Aa]|(?:\\{1,4}(?:u00|x)0[AaDd])+|(?:&#(?:x0?[AaDd]|1[03]);)+|-----(?:END|BEGIN)/g;
/** A line of prose has no word of that length. Programs write lines of 64 characters or more. */
const LONG_RUN = new RegExp(`${CHAR}{32,}${PAD}`, 'g');
const SHORT_RUN = new RegExp(`^${CHAR}{1,63}${PAD}`);
const RUN_AT_END = new RegExp(`(${CHAR}{1,32}${PAD}|=[A-Za-z0-9+/]{4})["'\`,;)\\s\\\\]*$`);
/** Those of RFC 1421 and of OpenPGP above a key; its last characters, and the checksum of OpenPGP. */
const MAX_HEADERS = 6;
const MAX_LAST_LINES = 2;

/** The end of a key's text in a line: behind what stood before its other parts, or at the end of the line. */
function shortRun(line: string, before: string | undefined): SecretPart | undefined {
  if (before !== undefined) {
    const shape = before
      .replaceAll(/[.*+?^${}()|[\]\\-]/g, '\\$&')
      .replaceAll(/\s*\d+/g, '\\s*\\d+');
    const from = new RegExp(`^${shape}`).exec(line)?.[0].length;
    const run = from === undefined ? undefined : SHORT_RUN.exec(line.slice(from))?.[0];
    if (from !== undefined && run !== undefined) return { from, to: from + run.length };
  }
  const last = RUN_AT_END.exec(line);
  return last === null ? undefined : { from: last.index, to: last.index + (last[1]?.length ?? 0) };
}

function moved({ from, to }: SecretPart, by: number): SecretPart {
  return { from: from + by, to: to + by };
}

/** Whether a program would take the text for a key, as far as it goes. */
function isKey(text: string, { parts, isWhole, isEncrypted }: KeyText, label: string): boolean {
  const body = parts.map(({ from, to }) => asBase64(text.slice(from, to))).join('');
  if (body.length < SECRET_LIMITS.minKeyChars) return false;
  const bytes = Buffer.from(body, 'base64');
  const [first = 0, second = 0] = bytes;
  if (isEncrypted) return true;
  if (label.startsWith('PGP')) return (first & 0xfc) === 0x94 || first === 0xc5;
  if (label.startsWith('OPENSSH')) return bytes.toString('latin1').startsWith('openssh-key-v1\0');
  // DER (X.690): a sequence that begins with a version, or with the algorithm by which it is encrypted.
  const sizeBytes = second < 0x80 ? 0 : second & 0x7f;
  if (first !== 0x30 || sizeBytes > 2) return false;
  const size = sizeBytes === 0 ? second : bytes.readUIntBE(2, sizeBytes);
  const content = bytes[2 + sizeBytes];
  const lacked = 2 + sizeBytes + size - bytes.length;
  return (
    (content === 0x02 || content === 0x30) && (!isWhole || lacked <= SECRET_LIMITS.maxLackedBytes)
  );
}

function asBase64(text: string): string {
  return text.replaceAll(WRITTEN_CHAR, (_, ...codes: (string | undefined)[]) => {
    const [percent, string, hex, decimal] = codes;
    const code = percent ?? string ?? hex;
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return decimal === undefined ? '' : String.fromCharCode(Number(decimal));
  });
}
