/** Documents of text and code: shown as they stream, Markdown left as it is. */
import type { DocumentType } from '../shared/documents.ts';
import { RENDER_LIMITS } from '../shared/limits.ts';
import type { Paint } from './paint.ts';
import type { Pen } from './pen.ts';
import { printable, printableLine } from './printable.ts';
import type { DocumentEvent, Shown } from './shown.ts';

/** Where on the screen a document goes on. */
export interface Place {
  /** The document before the event. */
  readonly before: Shown | undefined;
  /** Whether it was written last, so that its line can be gone on with. */
  readonly isLast: boolean;
  /** The type of the document that was written last. */
  readonly lastType: DocumentType | null;
}

export function writeTextEvent(
  pen: Pen,
  shown: Shown,
  event: DocumentEvent,
  { before, isLast }: Place,
  paint: Paint,
): void {
  if (event.type === 'document_start') {
    pen.gap();
    writeHeading(pen, shown, paint);
  } else if (event.type === 'content_delta' || event.type === 'document_end') {
    if (!isLast) pen.line();
    writeNews(pen, before?.content ?? '', shown.content);
    if (event.type === 'document_end') writeEnd(pen, shown, paint);
  }
}

const FENCE = '```';

function writeHeading(pen: Pen, { type, metadata }: Shown, paint: Paint): void {
  if (type === 'code_block') {
    pen.write(`${paint('dim', FENCE + textOf(metadata['language']))}\n`);
  } else if (type === 'code_reference') {
    const { filePath, startLine, endLine } = metadata;
    const where = `${textOf(filePath)}:${textOf(startLine)}-${textOf(endLine)}`;
    pen.write(`${paint('cyan', where)}\n${paint('dim', FENCE)}\n`);
  }
}

/** The part that the screen lacks. Empty lines in front of a text are the parser's, the gap is ours. */
function writeNews(pen: Pen, before: string, after: string): void {
  if (!after.startsWith(before)) return;
  const news = printable(after.slice(before.length));
  pen.write(before.trim() === '' && pen.lineEnds === 2 ? news.replace(/^\n+/, '') : news);
}

function writeEnd(pen: Pen, { type, metadata }: Shown, paint: Paint): void {
  pen.line();
  if (type === 'code_block' || type === 'code_reference') pen.write(`${paint('dim', FENCE)}\n`);
  if (metadata['interrupted'] === true) pen.write(`${paint('dim', '(interrupted)')}\n`);
}

function textOf(value: unknown): string {
  return printableLine(String(value ?? ''), RENDER_LIMITS.maxSummaryChars);
}
