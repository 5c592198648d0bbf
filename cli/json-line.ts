/** JSON for programs that read line by line, harmless for a terminal all the same. */
import { CONTROLS } from './printable.ts';

/** One value on one line. What could steer a terminal is written as an escape, which means the same to a parser. */
export function jsonLine(value: unknown): string {
  return `${escapeControls(JSON.stringify(value))}\n`;
}

/** JSON's own escapes for the control characters that JSON lets through; line ends of formatted JSON stay. */
export function escapeControls(json: string): string {
  return json.replaceAll(CONTROLS, (character) => {
    const code = character.charCodeAt(0).toString(HEX).padStart(ESCAPE_DIGITS, '0');
    return `\\u${code}`;
  });
}

const HEX = 16;
const ESCAPE_DIGITS = 4;
