/**
 * Takes out of a text what a terminal or an editor shows nothing of: escape sequences, control characters and invisible
 * characters. Rules look at what remains, and find a secret in whatever colours it is printed.
 */
import { SECRET_LIMITS } from './limits.ts';

/** Whether a secret begins at a position of a text; `open` where more of the text decides. */
type BeginningAt = (text: string, at: number) => 'begins' | 'open' | 'none';

/** What stands around a text, and how secrets in it are found. */
interface SeenFrom {
  /** What stands before, as it is seen. */
  readonly left: string;
  /** Whether something was taken out between that and the text. */
  readonly isFree: boolean;
  readonly isEnd: boolean;
  readonly beginning: BeginningAt;
  /** Masks what a sequence holds, such as the address of a link. */
  readonly maskInner: (text: string) => string;
}

/** A text as it is seen. Positions are those in `text`, which begins with what stands before; others are named raw. */
export class SeenText {
  readonly text: string;
  /** Where something was taken out, in ascending order. A token may begin or end there. */
  readonly gaps: readonly number[];
  /** The raw text ends there, before something that more of it decides. */
  readonly rawLength: number;
  readonly #raw: string;
  readonly #leftLength: number;
  /** For each gap, how many characters were taken out up to and with it. */
  readonly #removed: readonly number[];
  /** Sequences that hold a secret, and how they are shown. */
  readonly #masked: readonly MaskedSequence[];

  constructor(raw: string, { left, isFree, isEnd, beginning, maskInner }: SeenFrom) {
    const gaps = isFree ? [left.length] : [];
    const removed = isFree ? [0] : [];
    const masked: MaskedSequence[] = [];
    let text = left;
    let kept = 0;
    let total = 0;
    let rawLength = raw.length;
    for (let at = nextUnseen(raw, 0); at !== -1; ) {
      const to = sequenceAt(raw, at, isEnd, beginning);
      if (to === 'open') {
        rawLength = at;
        break;
      }
      if (to > at) {
        text += raw.slice(kept, at);
        kept = to;
        total += to - at;
        if (gaps.at(-1) === text.length) removed.pop();
        else gaps.push(text.length);
        removed.push(total);
        const shown =
          to - at > SECRET_LIMITS.minTokenChars && shownSequence(raw.slice(at, to), maskInner);
        if (shown) masked.push({ from: at, to, shown });
      }
      at = nextUnseen(raw, Math.max(to, at + 1));
    }
    this.text =
      kept === 0 && left === '' ? raw.slice(0, rawLength) : text + raw.slice(kept, rawLength);
    this.gaps = gaps;
    this.rawLength = rawLength;
    this.#raw = raw;
    this.#leftLength = left.length;
    this.#removed = removed;
    this.#masked = masked;
  }

  /** The raw position directly behind the character before this one. */
  behind(at: number): number {
    return at - this.#leftLength + this.#removedUpTo(this.gapBehind(at - 1));
  }

  /** The raw position of this character. */
  ahead(at: number): number {
    return at - this.#leftLength + this.#removedUpTo(this.gapBehind(at));
  }

  /** The raw text between two raw positions, without the secrets in its sequences. */
  shown(from: number, to: number): string {
    let shown = '';
    let at = from;
    for (const each of this.#masked) {
      if (each.from < from || each.to > to) continue;
      shown += this.#raw.slice(at, each.from) + each.shown;
      at = each.to;
    }
    return shown + this.#raw.slice(at, to);
  }

  /** What was taken out within a part of the text. */
  unseen(from: number, to: number): string {
    let unseen = '';
    for (let at = this.gapBehind(from); ; at++) {
      const gap = this.gaps[at];
      if (gap === undefined || gap >= to) return unseen;
      unseen += this.shown(this.behind(gap), this.ahead(gap));
    }
  }

  /** The index of the first gap behind a position. */
  gapBehind(at: number): number {
    let [low, high] = [0, this.gaps.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.gaps[middle] ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #removedUpTo(index: number): number {
    return this.#removed[index - 1] ?? 0;
  }
}

interface MaskedSequence {
  readonly from: number;
  readonly to: number;
  readonly shown: string;
}

function nextUnseen(raw: string, from: number): number {
  BEGINS.lastIndex = from;
  return BEGINS.exec(raw)?.index ?? -1;
}

/** Where the sequence at a position ends; the position itself where there is none. */
function sequenceAt(
  raw: string,
  at: number,
  isEnd: boolean,
  beginning: BeginningAt,
): number | 'open' {
  SEQUENCE.lastIndex = at;
  let found = SEQUENCE.exec(raw);
  if (found === null) {
    PARTIAL.lastIndex = at;
    if (!isEnd && PARTIAL.test(raw)) return 'open';
    SHORT.lastIndex = at;
    found = SHORT.exec(raw);
  }
  if (found === null) return at;
  const end = at + found[0].length;
  if (found[1] === undefined && found[2] === undefined) return end;
  // The last letter can be the first one of a token behind a damaged sequence.
  const begun = beginning(raw, end - 1);
  if (begun === 'open' && !isEnd) return 'open';
  return begun === 'begins' ? end - 1 : end;
}

/** Undefined where the sequence holds no secret. */
function shownSequence(sequence: string, maskInner: (text: string) => string): string | undefined {
  const [, start = '', inner = '', end = ''] = STRING.exec(sequence) ?? [];
  const masked = maskInner(inner);
  return masked === inner ? undefined : start + masked + end;
}

/** The controls that are neither blank nor the step back of a printer, and characters without a width. */
const CONTROLS = String.raw`\0-\x07\x0e-\x1f\x7f-\x9f`;
const INVISIBLE = String.raw`${CONTROLS}\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff`;
/** Escape as it is, and as strings of programs and `cat -v` write it. */
const WRITTEN = String.raw`\\{1,4}(?:u001[bB]|u\{1[bB]\}|x1[bB]|0?33|[eE])|\^\[`;
/** ECMA-48: control sequences, control strings, and escape sequences such as those that choose characters. */
const CSI = String.raw`(?:(?:\x1b|${WRITTEN})\[|\x9b)[0-?]{0,${SECRET_LIMITS.maxParameterChars}}[ -/]{0,8}`;
const STRING_START = String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])`;
const STRING_TEXT = String.raw`[^${CONTROLS}\n\r]{0,${SECRET_LIMITS.maxStringChars}}`;
const SEQUENCE = new RegExp(
  String.raw`${CSI}([@-~])|${STRING_START}${STRING_TEXT}(?:\x07|\x1b\\|\x9c)|\x1b[ -/]{1,4}([0-~])|(?:${WRITTEN})[()][0-9A-Z]`,
  'y',
);
const STRING = new RegExp(String.raw`^(${STRING_START})(${STRING_TEXT})(\x07|\x1b\\|\x9c)$`);
/** What is none of these as a whole: two characters, or one. */
const SHORT = new RegExp(String.raw`\x1b([0-~])|[${INVISIBLE}]`, 'y');
const PARTIAL = new RegExp(
  String.raw`(?:${CSI}|${STRING_START}${STRING_TEXT}\x1b?|\x1b[ -/]{0,4}|(?:${WRITTEN})[()]?|\\{1,4}(?:u(?:0(?:0(?:1)?)?|\{(?:1[bB]?)?)?|x1?|0?3?)?|\^)$`,
  'y',
);
const BEGINS = new RegExp(String.raw`[${INVISIBLE}]|\\(?=[\\eEux0]|$)|\^(?=\[|$)`, 'g');
