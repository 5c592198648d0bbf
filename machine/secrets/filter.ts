/** Puts `[secret: KIND]` in the place of private keys and of tokens in a documented form. */
import { TOKEN_KINDS, type TokenKind } from './kinds.ts';
import { SECRET_LIMITS } from './limits.ts';
import { KEY_BEGIN, KEY_END, keyAbove, keyAt, type SecretLook, tailFrom } from './private-key.ts';
import { SeenText } from './unseen.ts';

/** A whole text, masked. The same text where nothing is masked. */
export function maskSecrets(text: string): string {
  if (text.length < SECRET_LIMITS.minTokenChars) return text;
  return new SecretFilter().end(text);
}

/** Every string in a value of JSON, names of members excepted. The same value where nothing is masked. */
export function maskValue<Value>(value: Value): Value {
  if (typeof value === 'string') return maskSecrets(value) as Value & string;
  if (Array.isArray(value)) {
    const shown = value.map(maskValue);
    return shown.every((item, at) => item === value[at]) ? value : (shown as Value & unknown[]);
  }
  if (typeof value !== 'object' || value === null) return value;
  let isSame = true;
  const shown: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    shown[name] = maskValue(item);
    isSame &&= shown[name] === item;
  }
  return isSame ? value : (shown as Value);
}

/** The mask in a text that should have a secret's place; undefined where it has none. */
export function maskIn(text: string): string | undefined {
  return MASK.exec(text)?.[0];
}

/** The same for every string in a value of JSON. */
export function maskInValue(value: unknown): string | undefined {
  if (typeof value === 'string') return maskIn(value);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const item of Object.values(value)) {
    const mask = maskInValue(item);
    if (mask !== undefined) return mask;
  }
  return undefined;
}

/**
 * Masks a text that comes in pieces. However it is cut, the pieces together show the same: the end of a piece that may
 * be the beginning of a secret waits for the next piece.
 */
export class SecretFilter {
  /** Not yet shown. */
  #held = '';
  /** What stood before that, as it is seen. */
  #left = '';
  /** Whether something that is not seen stood between the two. */
  #isFree = false;
  /** The position of what stands before, from the text's beginning. */
  #leftAt = 0;
  /** Up to which position no token of a kind begins: one whose characters are looked at once for a run of them. */
  readonly #over = new Map<ReadyKind, number>();

  push(piece: string): string {
    return this.#show(piece, false);
  }

  /** The last piece. The filter can then take another text. */
  end(piece = ''): string {
    const shown = this.#show(piece, true);
    this.#left = '';
    this.#isFree = false;
    this.#leftAt = 0;
    this.#over.clear();
    return shown;
  }

  #show(piece: string, isEnd: boolean): string {
    const raw = this.#held + piece;
    const seen = new SeenText(raw, {
      left: this.#left,
      isFree: this.#isFree,
      isEnd,
      beginning: beginningAt,
      maskInner: maskSecrets,
    });
    const { text, gaps } = seen;
    const begin = this.#left.length;
    let from = begin;
    let rawFrom = 0;
    let shown = '';
    let until = text.length;
    for (let at = from; ; ) {
      const start = nextStart(seen, at, { isEnd, isFirst: at === begin });
      if (start === undefined) break;
      const look = start.prefix === undefined ? OPEN : this.#lookAt(seen, start, { from, isEnd });
      if (look.state === 'open') {
        until = start.at;
        break;
      }
      at = start.at + 1;
      if (look.state === 'none') continue;
      for (const part of look.parts) {
        shown += seen.shown(rawFrom, seen.ahead(part.from)) + look.mask;
        shown += seen.unseen(part.from, part.to);
        from = part.to;
        rawFrom = seen.behind(from);
      }
      at = Math.max(at, from);
    }
    if (!isEnd) until = Math.max(from, Math.min(until, tailFrom(text, from)));
    const isAll = until === text.length;
    const rawUntil = isAll ? seen.rawLength : seen.behind(until);
    shown += seen.shown(rawFrom, rawUntil);
    this.#held = raw.slice(rawUntil);
    if (until > begin || isAll) this.#isFree = isAll && gaps.at(-1) === until;
    const leftFrom = Math.max(0, until - SECRET_LIMITS.leftChars);
    this.#left = text.slice(leftFrom, until);
    this.#leftAt += leftFrom;
    return shown;
  }

  #lookAt(
    seen: SeenText,
    { at, prefix }: SecretStart,
    { from, isEnd }: { readonly from: number; readonly isEnd: boolean },
  ): SecretLook {
    if (prefix === KEY_BEGIN) return keyAt(seen.text, at, { isEnd, mask: maskOf(KEY) });
    if (prefix === KEY_END) return keyAbove(seen.text, at, { from, isEnd, mask: maskOf(KEY) });
    for (const kind of KINDS.get(prefix ?? '') ?? []) {
      if (this.#leftAt + at < (this.#over.get(kind) ?? 0)) continue;
      const look = tokenAt(seen, at, { prefix: prefix ?? '', kind, isEnd });
      if (look.state !== 'none') return look;
      if (look.to !== undefined) this.#over.set(kind, this.#leftAt + look.to);
    }
    return NONE;
  }
}

/** Where a prefix begins. Without one, the text ends with what may be the beginning of one. */
interface SecretStart {
  readonly at: number;
  readonly prefix?: string;
}

/**
 * The next place at or behind `from` where a prefix stands behind no letter or digit, unless that belongs to an escape
 * of a string or an address, or something unseen stands between. It looks at each character once.
 */
function nextStart(
  seen: SeenText,
  from: number,
  { isEnd, isFirst }: { readonly isEnd: boolean; readonly isFirst: boolean },
): SecretStart | undefined {
  const { text, gaps } = seen;
  const begin = isFirst ? Math.max(0, from - SECRET_LIMITS.escapeChars) : from;
  let last = begin > 0 ? (CLASSES[text.charCodeAt(begin - 1)] ?? 0) : 0;
  /** Behind an escape. */
  let freeAt = -1;
  const { length } = text;
  const lastPairs = isEnd ? length - 1 : length - LONGEST_BEGINNING;
  let gap = gaps.length === 0 ? 0 : seen.gapBehind(begin - 1);
  for (let at = begin; at < length; gap++) {
    const stop = Math.min(gaps[gap] ?? length, length);
    for (; at < stop; at++) {
      const code = text.charCodeAt(at);
      const kind = code < 128 ? CLASSES[code] : 0;
      if ((last !== WORD || code === DASH || at === freeAt) && at >= from && code < 128) {
        // First: what is a whole prefix can be the beginning of a longer one.
        if (at >= lastPairs && !isEnd && BEGINNINGS.has(text.slice(at))) return { at };
        const next = text.charCodeAt(at + 1);
        const pair = next < 128 ? (PAIR_OF[code * 128 + next] ?? 0) : 0;
        if (pair > 0) {
          const prefix = PAIRS[pair - 1]?.find((each) => text.startsWith(each, at));
          if (prefix !== undefined) return { at, prefix };
        }
      }
      if (kind === BEGINS_ESCAPE) {
        ESCAPED.lastIndex = at;
        const escaped = ESCAPED.exec(text)?.[0].length;
        if (escaped !== undefined) freeAt = at + escaped;
      }
      last = kind ?? 0;
    }
    last = 0;
  }
  return undefined;
}

/** Whether a prefix begins at a place, whatever stands before it. */
function beginningAt(text: string, at: number): 'begins' | 'open' | 'none' {
  const code = text.charCodeAt(at);
  if (code >= 128 || FIRSTS[code] !== 1) return 'none';
  if (PREFIXES.some((prefix) => text.startsWith(prefix, at))) return 'begins';
  const rest = text.length - at <= LONGEST_BEGINNING ? text.slice(at) : '';
  return BEGINNINGS.has(rest) ? 'open' : 'none';
}

const NONE = { state: 'none' } as const;
const OPEN = { state: 'open' } as const;

/** A kind with its expressions. */
interface ReadyKind extends TokenKind {
  /** Sticky. */
  readonly run: RegExp;
}

function tokenAt(
  seen: SeenText,
  at: number,
  { prefix, kind, isEnd }: { readonly prefix: string; readonly kind: ReadyKind; isEnd: boolean },
): SecretLook {
  const { text } = seen;
  let from = at + prefix.length;
  if (kind.lead) {
    kind.lead.lastIndex = from;
    const lead = kind.lead.exec(text)?.[0].length;
    const isWaiting = !isEnd && text.length - from < MAX_LEAD;
    if (lead === undefined && isWaiting && /^[\t "'\\]*$/.test(text.slice(from))) return OPEN;
    if (lead === undefined) return NONE;
    from += lead;
  }
  kind.run.lastIndex = from;
  const run = kind.run.exec(text)?.[0] ?? '';
  const max = kind.length[1];
  const isOver = run.length === max + MAX_DOTS;
  if (from + run.length === text.length && !isEnd && !isOver) return OPEN;
  const body = run.endsWith('.') ? run.replace(/\.+$/, '') : run;
  const to = from + body.length;
  const length =
    !isOver && isTokenOf(kind, body) ? body.length : lengthAtGap(seen, from, body, kind);
  if (length === undefined) return max < LONG_TOKEN ? NONE : { state: 'none', to };
  const part = { from: kind.lead ? from : at, to: from + length };
  return { state: 'found', parts: [part], mask: maskOf(kind.kind) };
}

/** How long a token is that ends where something unseen was, such as the end of a colour, and a word follows. */
function lengthAtGap(
  seen: SeenText,
  from: number,
  body: string,
  kind: ReadyKind,
): number | undefined {
  let gap = seen.gapBehind(from + Math.min(body.length, kind.length[1]) - 1);
  if (seen.gaps[gap] !== from + kind.length[1]) gap--;
  for (let tried = 0; tried < MAX_ENDS; tried++, gap--) {
    const length = (seen.gaps[gap] ?? 0) - from;
    if (length < kind.length[0]) return undefined;
    if (isTokenOf(kind, body.slice(0, length))) return length;
  }
  return undefined;
}

/** Gaps that are tried as the end of a token. */
const MAX_ENDS = 8;

/** Longest text between a prefix that names a token and the token. */
const MAX_LEAD = 24;

/** Behind a token, as the end of a sentence. One more than may stand there. */
const MAX_DOTS = 4;

/** Characters of a token that are not looked at again for each token which could begin among them. */
const LONG_TOKEN = 1_000;

function isTokenOf(
  { length: [min, max], form, fits, isNoToken }: TokenKind,
  body: string,
): boolean {
  if (body.length < min || body.length > max || isNoToken?.(body)) return false;
  if (form && !form.test(body)) return false;
  return fits ? fits(body) : !isPlaceholder(body);
}

/** Whether people wrote the text to stand for a token. One in a million that a machine makes has such a part by chance. */
function isPlaceholder(body: string): boolean {
  if (WRITTEN.test(body)) return true;
  return new Set(body).size < Math.min(9, 1 + body.length / 4);
}

const WRITTEN =
  /example|placeholder|dummy|redacted|sample|changeme|secret|insert|your[_-]|xxxxx|(.)\1{7}|(?:0?123456789|abcdefgh|ABCDEFGH|qwerty)/i;

/** What `[secret: …]` is called: the kinds of tokens, and private keys. */
export function maskOf(kind: string): string {
  return `[secret: ${kind}]`;
}

const KEY = 'private key';
const NAMES = [...new Set(TOKEN_KINDS.map(({ kind }) => kind)), KEY];
const MASK = new RegExp(`\\[secret: (?:${NAMES.map(escaped).join('|')})\\]`);

const PREFIXES = [
  ...new Set([KEY_BEGIN, KEY_END, ...TOKEN_KINDS.flatMap(({ prefixes }) => prefixes)]),
].sort((a, b) => b.length - a.length);
const [DASH, BACKSLASH, PERCENT] = [45, 92, 37];
const [WORD, BEGINS_ESCAPE] = [1, 2];
const ESCAPED =
  /\\(?:u(?:[\dA-Fa-f]{4}|\{[\dA-Fa-f]{1,6}\})|x[\dA-Fa-f]{2}|[0-7]{1,3}|[abefnrtv])|%[\dA-Fa-f]{2}/y;
/** By the character: 1 for letters and digits, 2 for what begins an escape. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  if (/[A-Za-z0-9]/.test(String.fromCharCode(code))) return WORD;
  return code === BACKSLASH || code === PERCENT ? BEGINS_ESCAPE : 0;
});
/** By the first two characters of a prefix: its place among `PAIRS`, from 1 on. */
const PAIR_OF = new Uint8Array(128 * 128);
const PAIRS: string[][] = [];
for (const prefix of PREFIXES) {
  const pair = prefix.charCodeAt(0) * 128 + prefix.charCodeAt(1);
  PAIR_OF[pair] ||= PAIRS.push([]);
  PAIRS[(PAIR_OF[pair] ?? 0) - 1]?.push(prefix);
}
const KINDS: ReadonlyMap<string, readonly ReadyKind[]> = new Map(
  PREFIXES.map((prefix) => [
    prefix,
    TOKEN_KINDS.filter(({ prefixes }) => prefixes.includes(prefix)).map((kind) => ({
      ...kind,
      run: new RegExp(`[${kind.chars}]{0,${kind.length[1] + MAX_DOTS}}`, 'y'),
    })),
  ]),
);
/** By the character: 1 for those that begin a prefix. */
const FIRSTS = new Uint8Array(128);
for (const prefix of PREFIXES) FIRSTS[prefix.charCodeAt(0)] = 1;

const BEGINNINGS: ReadonlySet<string> = new Set(
  PREFIXES.flatMap((prefix) => Array.from(prefix, (_, at) => prefix.slice(0, at))).filter(
    (beginning) => beginning !== '',
  ),
);
const LONGEST_BEGINNING = Math.max(...PREFIXES.map(({ length }) => length)) - 1;

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\-]/g, '\\$&');
}
