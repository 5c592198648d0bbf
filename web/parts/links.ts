/** Decides which addresses of a text may become links and images. */
import { PART_LIMITS } from './limits.ts';

export interface Link {
  readonly href: string;
  /** The host that it leads to in ASCII, or a mail address: what a person must know before a click. */
  readonly place: string;
}

/** Undefined unless the address is one of http(s) or mailto. `destination` is what Markdown has between parentheses. */
export function linkOf(destination: string): Link | undefined {
  const address = addressIn(destination);
  // A browser's parser drops line feeds and takes `\` as `/`: such an address is not what it looks like.
  if (!URL.canParse(address) || HIDDEN.test(address)) return undefined;
  const { protocol, host, pathname, href } = new URL(address);
  if (protocol === 'https:' || protocol === 'http:') return { href, place: host };
  return protocol === 'mailto:' ? { href, place: pathname } : undefined;
}

/** The address of an image that is in the text itself, in a format without scripts. */
export function ownImageOf(destination: string): string | undefined {
  const address = addressIn(destination);
  const isOwn = address.length <= PART_LIMITS.imageChars && OWN_IMAGE.test(address);
  return isOwn ? address : undefined;
}

/** Whether a link's text looks like an address, but is not the one that it leads to. */
export function isMisleading(text: string, place: string): boolean {
  if (!LIKE_ADDRESS.test(asSeen(text))) return false;
  const named = text.trim().replace(/^(?:https?:\/\/|mailto:)/i, '');
  return (named.split(/[/?#]/)[0] ?? '').toLowerCase() !== place;
}

/** Blanks that hardly show are not there, and characters that look like others are these (Unicode's form NFKC). */
function asSeen(text: string): string {
  return text.replaceAll(/(?! )[\s\p{Cf}]/gu, '').normalize('NFKC');
}

/** Without angle brackets and a title. */
function addressIn(destination: string): string {
  const trimmed = destination.trim().replace(/\s+(?:"[^"]*"|'[^']*')$/, '');
  return /^<([^<>]*)>$/.exec(trimmed)?.[1] ?? trimmed;
}

const HIDDEN = /[\s\\\p{C}]/u;
const OWN_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/]+=*$/;
/** Something before and after a dot, of any script, or two slashes, or a mail address. */
const LIKE_ADDRESS = /\S[.\u3002\uff0e\uff61]\S|\/\/|\S@\S/;
