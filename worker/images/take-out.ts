/** Takes large images out of the JSON of a request while it arrives, so that no part of the Worker holds them whole. */
import { HELD_LIMITS } from './limits.ts';
import { type HeldImage, NOT_HELD } from './marker.ts';

/** Where the pieces of images go. */
export interface ImageHolder {
  /** Holds a piece, and returns its digest. */
  hold(piece: string): Promise<string>;
  /** The marker of an image whose pieces are held. */
  mark(image: HeldImage): string;
}

interface FilterLimits {
  readonly inlineChars: number;
  readonly smallChars: number;
  readonly pieceChars: number;
}

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
  /** Of the pieces. */
  chars: number;
  readonly digests: string[];
  /** Set behind padding, where nothing else may follow. */
  isPadded: boolean;
  isDamaged: boolean;
}

/**
 * Gives the text back with markers in place of images. Everything else stays as it is, also what is neither JSON nor
 * base64: the parser refuses it. Small images stay too, and the first ones up to `inlineChars`.
 */
export class ImageFilter {
  readonly #holder: ImageHolder;
  readonly #limits: FilterLimits;
  #inlineLeft: number;
  /** The end of the text that may be the beginning of an attachment, or half of an escaped character. */
  #tail = '';
  /** What stands before the tail: the key of a value. */
  #before = '';
  #arriving: Arriving | null = null;
  #taken = 0;

  constructor(holder: ImageHolder, limits: FilterLimits = HELD_LIMITS) {
    this.#holder = holder;
    this.#limits = limits;
    this.#inlineLeft = limits.inlineChars;
  }

  /** The characters that were taken out. */
  get takenChars(): number {
    return this.#taken + (this.#arriving?.written ?? 0);
  }

  /** The next part of the text, as far as it is known what stays. @throws as {@link ImageHolder.hold} */
  async push(text: string): Promise<string> {
    let rest = this.#tail + text;
    this.#tail = '';
    let out = '';
    while (rest !== '') {
      if (this.#arriving) {
        const found = rest.search(BASE64_END);
        const end = found < 0 ? rest.length : found;
        await this.#take(this.#arriving, rest.slice(0, end));
        rest = rest.slice(end);
        if (rest === '' || rest === '\\') break;
        out += await this.#finish(this.#arriving, rest.startsWith('"'));
        continue;
      }
      const found = HEAD.exec(rest);
      if (!found) {
        const kept = rest.length - beginningAtEnd(rest);
        out += rest.slice(0, kept);
        rest = rest.slice(kept);
        break;
      }
      const [head, type = '', subtype = ''] = found;
      out += rest.slice(0, found.index);
      rest = rest.slice(found.index + head.length);
      const isWords = WORDS.test((this.#before + out).slice(-MAX_KEY_CHARS));
      if (isWords || isTextType(`${type}/${subtype}`)) out += head;
      else this.#arriving = newArriving(head, type === 'image' && IMAGES.test(subtype));
    }
    this.#tail = rest;
    this.#before = (this.#before + out).slice(-MAX_KEY_CHARS);
    return out;
  }

  /** The last part. */
  async end(): Promise<string> {
    const arriving = this.#arriving;
    const tail = this.#tail;
    this.#tail = '';
    return arriving ? (await this.#finish(arriving, false)) + tail : tail;
  }

  async #take(arriving: Arriving, more: string): Promise<void> {
    const { pieceChars } = this.#limits;
    arriving.written += more.length;
    // PHP writes a backslash before each slash.
    let rest = more.replaceAll('\\/', '/');
    while (arriving.pendingChars + rest.length > pieceChars) {
      const room = pieceChars - arriving.pendingChars;
      add(arriving, rest.slice(0, room));
      rest = rest.slice(room);
      await this.#holdPiece(arriving);
    }
    add(arriving, rest);
  }

  async #holdPiece(arriving: Arriving): Promise<void> {
    const piece = taken(arriving);
    arriving.chars += piece.length;
    arriving.isDamaged ||= arriving.isPadded || !BASE64.test(piece);
    arriving.isPadded = piece.endsWith('=');
    if (arriving.isImage && !arriving.isDamaged)
      arriving.digests.push(await this.#holder.hold(piece));
  }

  /** What stands in the text for an attachment that has come to its end. `isWhole`: the string ends with it. */
  async #finish(arriving: Arriving, isWhole: boolean): Promise<string> {
    this.#arriving = null;
    const { head, isImage, written, digests } = arriving;
    const isFirst = written <= this.#inlineLeft;
    if (arriving.chars === 0 && (isFirst || written <= this.#limits.smallChars)) {
      if (isFirst) this.#inlineLeft -= written;
      return head + taken(arriving);
    }
    this.#taken += written;
    if (arriving.pendingChars > 0) await this.#holdPiece(arriving);
    if (arriving.isDamaged || !isWhole) return head + DAMAGED;
    return head + (isImage ? this.#holder.mark({ chars: arriving.chars, digests }) : NOT_HELD);
  }
}

function newArriving(head: string, isImage: boolean): Arriving {
  return {
    head,
    isImage,
    written: 0,
    pending: [],
    pendingChars: 0,
    chars: 0,
    digests: [],
    isPadded: false,
    isDamaged: false,
  };
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

/** At the beginning of a string: a quote within one has a backslash before it. */
const HEAD = /(?<!\\)"data:([a-z]+)\\?\/([\w.+-]+)(?:;[\w.+-]+=[\w.+-]+)*;base64,/i;
/** The characters of a head at most: names of types are short. */
const MAX_HEAD_CHARS = 200;
/** Values that are words, and no images, even where they are the address of one. */
const WORDS = /"(?:content|text|output|input|arguments|prompt)"\s*:\s*$/;
const MAX_KEY_CHARS = 40;
/** Of backslashes, only one before a slash is part of base64. The last character can be half of that. */
const BASE64_END = /\\(?!\/)|[^A-Za-z\d+/=\\]/;
const BASE64 = /^[A-Za-z\d+/]*={0,2}$/;
/** No base64: the schema refuses it in an image, and a model reads it in a text. */
const DAMAGED = '(damaged)';
/** The kinds that a message takes. */
const IMAGES = /^(png|jpeg|webp|gif)$/i;

/** Whether a file of this type may be read as text. Browsers take TypeScript for video/mp2t. */
export function isTextType(type: string): boolean {
  return TEXT.test(type);
}

const TEXT = /^(text\/.*|video\/mp2t|application\/.*(json|xml|yaml|toml|script|sql|sh|stream))$/i;

/** How many characters at the end of the text could begin an attachment, with the one before them. */
function beginningAtEnd(text: string): number {
  const from = text.lastIndexOf('"');
  const length = text.length - from;
  const begun = from < 0 || length > MAX_HEAD_CHARS ? '' : text.slice(from);
  const isBegun = begun !== '' && ('"data:'.startsWith(begun) || BEGUN.test(begun));
  if (isBegun) return Math.min(text.length, length + 1);
  return text.endsWith('\\') ? 1 : 0;
}

const BEGUN = /^"data:[\w.+\-\\/;=,]*$/;
