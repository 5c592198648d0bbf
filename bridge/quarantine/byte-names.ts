/** Names as the kernel has them: bytes. A command can make names that no encoding holds, and they must be found too. */

/** A name or path of which each character stands for one byte (latin1), so that nothing is lost on the way to the disk. */
export type ByteName = string;

/** The same path for the system's calls. */
export function toPath(name: ByteName): Buffer {
  return Buffer.from(name, 'latin1');
}

/** A path of ordinary text as bytes. */
export function toByteName(path: string | Uint8Array): ByteName {
  return Buffer.from(typeof path === 'string' ? Buffer.from(path) : path).toString('latin1');
}

/** For people: on one line, with what could steer a terminal or is no UTF-8 as `\x1b`. */
export function shownName(name: ByteName): string {
  return escaped(textOf(name));
}

/** A text from a file that a command wrote, for people; cut to `maxChars`. */
export function shownText(text: string, maxChars: number): string {
  const shown = escaped(text);
  return shown.length <= maxChars ? shown : `${shown.slice(0, maxChars - 1).toWellFormed()}…`;
}

function textOf(name: ByteName): string {
  try {
    return UTF8.decode(toPath(name));
  } catch {
    return name.replaceAll(/[\u0080-\u00ff]/g, escapeOf);
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function escaped(text: string): string {
  return text.toWellFormed().replaceAll(STEERING, escapeOf);
}

/** Controls, line ends, and the marks that turn the direction of writing around or are not seen at all. */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(HEX);
  return code <= MAX_BYTE ? `\\x${digits.padStart(2, '0')}` : `\\u{${digits}}`;
}

const HEX = 16;
const MAX_BYTE = 0xff;
