/** Lines as a person reads them: one of a list or a summary, or one that a narrow screen breaks between its words. */
import { printableLine } from '../../shared/text/plain-sight.ts';
import { RENDER_LIMITS } from '../limits.ts';

/** The text on one line, without control characters, cut to the length of a summary. */
export function shortLine(text: string): string {
  return printableLine(text, RENDER_LIMITS.maxSummaryChars);
}

/**
 * Breaks a line between words, where a terminal would break it within one. The lines below the first get an indent, and
 * `text` stands behind as much. What backticks enclose stays whole: a person copies it.
 */
export function foldedAt(text: string, columns: number | undefined, indent = 0): string {
  if (columns === undefined) return text;
  const room = Math.max(columns - indent, RENDER_LIMITS.minFoldedColumns);
  return text
    .replaceAll(/`[^`]*`/g, (command) => command.replaceAll(' ', '\0'))
    .replaceAll(new RegExp(`(.{1,${room}}|[^ ]+)(?: +|$)`, 'g'), '$1\n')
    .trimEnd()
    .replaceAll('\n', `\n${' '.repeat(indent)}`)
    .replaceAll('\0', ' ');
}
