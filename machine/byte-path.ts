/** Paths as the kernel has them. Each byte is one character (latin1), because a name need not be UTF-8. */
import { inOneLine } from '../shared/text/plain-sight.ts';

/** An absolute path or a part of one. Only `/` and NUL have a meaning in it. */
export type BytePath = string;

/** Converts a path for Node's file functions, which would encode a string as UTF-8. */
export function toBytes(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

/** Like {@link toBytes}, but makes no copy of an ASCII path. For calls that happen once per folder of a workspace. */
export function toPathLike(path: BytePath): string | Buffer {
  return isAscii(path) ? path : toBytes(path);
}

function isAscii(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with them.
  return /^[\x00-\x7f]*$/.test(path);
}

export function fromText(path: string): BytePath {
  return Buffer.from(path, 'utf8').toString('latin1');
}

/** Converts a path to text. Bytes that are not UTF-8 become U+FFFD. */
export function toText(path: BytePath): string {
  return toBytes(path).toString('utf8');
}

/**
 * A path for people, on one line. Escapes characters that could steer a terminal, and bytes that are not UTF-8 as
 * `\xff`.
 */
export function shownName(path: BytePath): string {
  return inOneLine(toExactText(path));
}

function toExactText(path: BytePath): string {
  try {
    return UTF8.decode(toBytes(path));
  } catch {
    return path.replaceAll(/[\u0080-\u00ff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(HEX)}`);
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const HEX = 16;

/** Whether a path lies inside a folder and is not the folder itself. Both are absolute and without links. */
export function isBelow(folder: BytePath, path: BytePath): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
