/** Takes large images out of the JSON of a request while it arrives, so that no part of the Worker holds them whole. */
import { HELD_LIMITS } from './limits.ts';
import { markerOf, NOT_HELD } from './marker.ts';

type Limits = { readonly [Name in keyof typeof HELD_LIMITS]: number };

/** Holds a piece of an image, and returns its digest. */
export type HoldPiece = (piece: string) => Promise<string>;

/** An attachment that is being read. */
interface Arriving {
  /** What stands before its base64, with the quote. */
  readonly head: string;
  /** Images that a model can get. Nothing reads the content of others. */
  readonly isImage: boolean;
  /** Its characters in the JSON so far. */
  written: number;
  /** Its base64 behind the pieces, as it came: adding each part to a string would copy all of them each time. */
  pending: string[];
  pendingChars: number;
  /** A backslash at the end of what came, or nothing. */
  split: string;
  /** Of the pieces. */
  chars: number;
  readonly digests: string[];
  /** Set behind padding, where nothing else may follow. */
  isPadded: boolean;
  isDamaged: boolean;
}

/**
 * Gives the text back with markers in place of images. Everything else stays as it is, also what is neither JSON nor
 * base64: whoever parses the text refuses it. The first images stay too, up to `inlineChars`.
 */
export class ImageFilter {
  readonly #hold: HoldPiece;
  readonly #pieceChars: number;
  #inlineLeft: number;
  /** The end of the text that may be the beginning of an attachment. */
  #tail = '';
  #arriving: Arriving | null = null;
  #taken = 0;

  constructor(
    hold: HoldPiece,
    { inlineChars, pieceChars }: Pick<Limits, 'inlineChars' | 'pieceChars'> = HELD_LIMITS,
  ) {
    this.#hold = hold;
    this.#pieceChars = pieceChars;
    this.#inlineLeft = inlineChars;
  }

  /** The characters that were taken out. */
  get takenChars(): number {
    return this.#taken + (this.#arriving?.written ?? 0);
  }

  /** The next part of the text, as far as it is known what stays. @throws as {@link HoldPiece} */
  async push(text: string): Promise<string> {
    let rest = this.#tail + text;
    this.#tail = '';
    let out = '';
    while (rest !== '') {
      if (this.#arriving) {
        const end = rest.search(NOT_BASE64);
        await this.#take(this.#arriving, end < 0 ? rest : rest.slice(0, end));
        if (end < 0) break;
        out += await this.#finish(this.#arriving);
        rest = rest.slice(end);
        continue;
      }
      const found = HEAD.exec(rest);
      if (!found) {
        const kept = rest.length - beginningAtEnd(rest);
        this.#tail = rest.slice(kept);
        return out + rest.slice(0, kept);
      }
      const [head, type = '', subtype = ''] = found;
      const end = found.index + head.length;
      const isText = TEXT.test(`${type}/${subtype}`);
      out += rest.slice(0, isText ? end : found.index);
      rest = rest.slice(end);
      if (isText) continue;
      this.#arriving = newArriving(head, type === 'image' && IMAGES.test(subtype));
    }
    return out;
  }

  /** The last part. */
  async end(): Promise<string> {
    const arriving = this.#arriving;
    const tail = this.#tail;
    this.#tail = '';
    return arriving ? await this.#finish(arriving) : tail;
  }

  async #take(arriving: Arriving, more: string): Promise<void> {
    arriving.written += more.length;
    // PHP writes a backslash before each slash, which can be the end of what came before.
    const text = (arriving.split + more).replaceAll('\\/', '/');
    arriving.split = text.endsWith('\\') ? '\\' : '';
    let rest = arriving.split === '' ? text : text.slice(0, -1);
    while (arriving.pendingChars + rest.length > this.#pieceChars) {
      const room = this.#pieceChars - arriving.pendingChars;
      add(arriving, rest.slice(0, room));
      rest = rest.slice(room);
      await this.#holdPiece(arriving);
    }
    add(arriving, rest);
  }

  async #holdPiece(arriving: Arriving): Promise<void> {
    const piece = taken(arriving);
    arriving.chars += piece.length;
    arriving.isDamaged ||= !(arriving.isPadded ? PADDING : BASE64).test(piece);
    arriving.isPadded ||= piece.endsWith('=');
    if (arriving.isImage && !arriving.isDamaged) arriving.digests.push(await this.#hold(piece));
  }

  /** What stands in the text for an attachment that has come to its end. */
  async #finish(arriving: Arriving): Promise<string> {
    this.#arriving = null;
    const { head, isImage, written, digests } = arriving;
    add(arriving, arriving.split);
    const isWhole = arriving.chars === 0;
    if (isWhole && written <= this.#inlineLeft) {
      this.#inlineLeft -= written;
      return head + taken(arriving);
    }
    this.#taken += written;
    if (arriving.pendingChars > 0) await this.#holdPiece(arriving);
    if (arriving.isDamaged) return head + DAMAGED;
    return head + (isImage ? markerOf({ chars: arriving.chars, digests }) : NOT_HELD);
  }
}

function newArriving(head: string, isImage: boolean): Arriving {
  const none = { written: 0, pending: [], pendingChars: 0, split: '', chars: 0, digests: [] };
  return { head, isImage, ...none, isPadded: false, isDamaged: false };
}

function add(arriving: Arriving, part: string): void {
  arriving.pending.push(part);
  arriving.pendingChars += part.length;
}

/** What was pending, which is empty then. */
function taken(arriving: Arriving): string {
  const text = arriving.pending.join('');
  arriving.pending = [];
  arriving.pendingChars = 0;
  return text;
}

const BASE64 = /^[A-Za-z\d+/]*={0,2}$/;
const PADDING = /^=*$/;
/** No base64: whoever reads it refuses it. */
const DAMAGED = '(damaged)';

/** At the beginning of a string: a quote within one has a backslash before it. */
const HEAD = /(?<!\\)"data:([a-z]+)\\?\/([\w.+-]+)(?:;[\w.+-]+=[\w.+-]+)*;base64,/i;
/** The characters of a head at most: names of types are short. */
const MAX_HEAD_CHARS = 200;
const NOT_BASE64 = /[^A-Za-z\d+/=\\]/;
/** The kinds that a message takes. */
const IMAGES = /^(png|jpeg|webp|gif)$/i;
/** What may be read as text stays. */
const TEXT = /^(text\/.*|video\/mp2t|application\/.*(json|xml|yaml|toml|script|sql|sh|stream))$/i;

/** How many characters at the end of the text could begin an attachment, with the one before them. */
function beginningAtEnd(text: string): number {
  const from = text.lastIndexOf('"');
  const length = text.length - from;
  if (from < 0 || length > MAX_HEAD_CHARS) return text.endsWith('\\') ? 1 : 0;
  const begun = text.slice(from);
  const isBegun = '"data:'.startsWith(begun) || /^"data:[\w.+\-\\/;=,]*$/.test(begun);
  return isBegun ? Math.min(text.length, length + 1) : 0;
}
