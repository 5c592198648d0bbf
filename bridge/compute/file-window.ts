/** A file's bytes as read_file shows them: some lines with their numbers, without secrets. */

import { ToolFailure } from '../../machine/failure.ts';
import { cutLine } from '../../machine/result-lines.ts';
import { maskSecrets } from '../../machine/secrets/filter.ts';
import { isNotebook, readNotebook, showNotebook } from '../../packages/edits/index.ts';
import { countLines, decode, lineTextsFrom, numberLine } from '../../packages/edits/text.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import type { FileView, ShownLines } from './file-view.ts';
import { isPdf, showPdf } from './pdf-text.ts';

/** Lines, or pages of a PDF. Failures: `BINARY_FILE`, `OFFSET_PAST_END`, and those of `showPdf`. */
export function showFile(asked: FileView): ShownLines | Promise<ShownLines> {
  const { name, bytes, ...view } = asked;
  if (isPdf(bytes)) return showPdf(asked);
  const decoded = decode(bytes);
  if (decoded.kind === 'binary') {
    throw new ToolFailure(
      'BINARY_FILE',
      `${name} is a binary file, not text: of such files read_file shows PNG, JPEG, GIF, WebP and PDF.`,
    );
  }
  const readable = toReadable(name, decoded.text);
  // As a whole: a part of a key shows no longer that it is one.
  const { text, range } = showLines(maskSecrets(readable.text), view);
  const isUtf8 = decoded.kind === 'utf8';
  const encoding = isUtf8 ? '' : `\n(The file is not UTF-8, it is shown as ${decoded.encoding}.)`;
  return { text: text + readable.note + encoding, range };
}

/** A notebook as its cells; any other text as it is. */
function toReadable(name: string, text: string): { text: string; note: string } {
  if (!isNotebook(name)) return { text, note: '' };
  try {
    return { text: showNotebook(readNotebook(name, text)), note: '' };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { text, note: `\n(${error.message})` };
  }
}

/** The requested lines from `offset` on, as many as fit. A note names the rest and how to get it. */
function showLines(
  text: string,
  {
    offset = 1,
    limit = TOOL_LIMITS.maxReadLines,
    maxChars = TOOL_LIMITS.maxResultChars,
  }: Omit<FileView, 'name' | 'bytes'>,
): ShownLines {
  const totalLines = countLines(text);
  if (totalLines === 0) {
    return { text: '(The file is empty.)', range: { startLine: 0, endLine: 0, totalLines } };
  }
  const startLine = firstLine(offset, totalLines);
  const count = Math.min(limit, TOOL_LIMITS.maxReadLines, totalLines - startLine + 1);
  const shown: string[] = [];
  let chars = 0;
  for (const line of lineTextsFrom(text, startLine - 1, count)) {
    const numbered = numberLine(startLine + shown.length, cutLine(line));
    chars += numbered.length + 1;
    if (chars > maxChars) break;
    shown.push(numbered);
  }
  const endLine = startLine + shown.length - 1;
  const range = { startLine, endLine, totalLines };
  return { text: shown.join('\n') + describeRest(range), range };
}

/** Zero means the first line. A negative offset counts from the end, at most to the beginning. */
function firstLine(offset: number, totalLines: number): number {
  if (offset < 0) return Math.max(1, totalLines + offset + 1);
  if (offset <= totalLines) return Math.max(1, offset);
  throw new ToolFailure(
    'OFFSET_PAST_END',
    `The file has ${totalLines} lines, so there is no line ${offset}: use an offset from 1 to ${totalLines}.`,
  );
}

function describeRest({ startLine, endLine, totalLines }: ShownLines['range']): string {
  if (startLine === 1 && endLine === totalLines) return '';
  const next = endLine < totalLines ? ` Read on with offset ${endLine + 1}.` : '';
  return `\n(Lines ${startLine} to ${endLine} of ${totalLines}.${next})`;
}
