/** JSON for programs that read line by line, harmless for a terminal all the same. */
import { escapeControls } from '../../shared/plain-sight.ts';

/** One value on one line. What could steer a terminal is written as an escape, which means the same to a parser. */
export function jsonLine(value: unknown): string {
  return `${escapeControls(JSON.stringify(value))}\n`;
}
