/** Runs read_file: a text file, or a part of it, with line numbers. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import type { readFile } from '../../shared/tools/read-file.ts';
import { decode } from '../edits/encoding.ts';
import { numberLine } from '../edits/line-numbers.ts';
import { countLines, lineTextsFrom } from '../edits/lines.ts';
import { ToolFailure } from '../sandbox/failure.ts';
import { readImage } from '../sandbox/files.ts';
import { type ArgumentsOf, executor } from './executor.ts';
import { cutLine } from './output.ts';

/** Reading a part counts as having read the file: its hash is that of the whole. */
export const executeReadFile = executor<ArgumentsOf<typeof readFile>>(async (args, context) => {
  const place = await context.workspace.resolve(args.target_file, 'read');
  const image = await readImage(place, context.signal);
  const decoded = decode(image.bytes);
  if (decoded.kind === 'binary') {
    throw new ToolFailure('BINARY_FILE', `${place.name} is a binary file: only text can be read.`);
  }
  const { text } = decoded;
  const window = showLines(text, args.offset, args.limit);
  context.ledger.remember(context.conversationId, place.path, { hash: image.hash, text });
  const encoding =
    decoded.kind === 'other'
      ? `\n(The file is not UTF-8, it is shown as ${decoded.encoding}.)`
      : '';
  return {
    status: 'success',
    data: window.text + encoding,
    metadata: { filePath: place.name, ...window.range },
  };
});

interface ShownLines {
  readonly text: string;
  readonly range: {
    readonly startLine: number;
    readonly endLine: number;
    readonly totalLines: number;
  };
}

/** As many lines from `offset` on as are asked for and fit; what is left out is named, with how to get it. */
function showLines(text: string, offset = 1, limit: number = TOOL_LIMITS.maxReadLines): ShownLines {
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
    if (chars > TOOL_LIMITS.maxResultChars) break;
    shown.push(numbered);
  }
  const endLine = startLine + shown.length - 1;
  const range = { startLine, endLine, totalLines };
  return { text: shown.join('\n') + describeRest(range), range };
}

/** Zero is taken as the first line; a negative offset counts from the end, at most to the beginning. */
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
