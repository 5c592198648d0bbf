/** Quoting in Markdown: fences that their content cannot close. */
import type { NumberedLine } from './results.ts';

/** Lines of a file, as a reference to where they stand. */
export function quoteFile(path: string, lines: readonly NumberedLine[], maxLines: number): string {
  const shown = lines.slice(0, maxLines);
  const info = `${shown[0]?.number}:${shown.at(-1)?.number}:${path}`;
  return fence(
    info,
    shown.map(({ text }) => text),
  );
}

/** Lines of anything else, with a word on what is left out. */
export function quoteLines(lines: readonly string[], maxLines: number): string {
  const more = lines.length - maxLines;
  const shown = more > 0 ? [...lines.slice(0, maxLines), `… and ${more} more`] : lines;
  return fence('text', shown);
}

/** Code inside a sentence. */
export function code(text: string): string {
  const quotes = '`'.repeat(longestRun(text) + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${quotes}${space}${text.replaceAll('\n', ' ')}${space}${quotes}`;
}

/** Lines between fences that they cannot close. */
export function fence(info: string, lines: readonly string[]): string {
  const content = lines.join('\n');
  const fence = '`'.repeat(Math.max(MIN_FENCE, longestRun(content) + 1));
  return `${fence}${info}\n${content}\n${fence}`;
}

/** CommonMark's. */
const MIN_FENCE = 3;

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
