/** Shows documents of text, code and reasoning as they stream. Markdown stays as it is. */

import { printable } from '../../shared/text/plain-sight.ts';
import type { DocumentType } from '../../shared/wire/documents.ts';
import type { Paint } from '../terminal/paint.ts';
import { shortLine } from '../terminal/short-line.ts';
import type { Pen } from './pen.ts';
import type { Shown, ShownEvent } from './shown.ts';

/** Where on the screen a document continues. */
export interface ScreenPlace {
  /** The document before the event. */
  readonly before: Shown | undefined;
  /** Whether the document was written last, so that its line can continue. */
  readonly isLast: boolean;
  /** The type of the document that was written last. */
  readonly lastType: DocumentType | null;
  readonly view: ResponseView;
  /** All documents of the response, as they were before the event. */
  readonly documents: ReadonlyMap<string, Shown>;
}

/** What a document's event draws: with which pen, and where. */
export interface Drawing {
  readonly pen: Pen;
  readonly paint: Paint;
  /** The document after the event. */
  readonly shown: Shown;
  readonly event: ShownEvent;
  readonly place: ScreenPlace;
}

/** The part of a response that a screen shows: all of it, only the answer, or everything except the answer. */
export type ResponseView = 'all' | 'answer' | 'progress';

export function writeTextEvent({ pen, shown, event, place, paint }: Drawing): void {
  const { before, isLast, view } = place;
  if (event.type === 'document_start') {
    pen.gap();
    writeHeading(pen, shown, paint);
  } else if (event.type === 'content_delta' || event.type === 'document_end') {
    if (!isLast) pen.line();
    writeNews(pen, newsOf(before, shown, event), before?.isBlank ?? true, shown, paint);
    if (event.type === 'document_end') writeEnd(pen, shown, view, paint);
  }
}

/** Says on the progress screen that a document of the answer was interrupted. The answer's own screen does not. */
export function writeLoss(pen: Pen, event: ShownEvent, paint: Paint): void {
  if (event.type !== 'document_end' || event.metadata?.['interrupted'] !== true) return;
  pen.line();
  writeInterrupted(pen, paint);
}

const FENCE = '```';

function writeHeading(pen: Pen, { type, metadata }: Shown, paint: Paint): void {
  if (type === 'code_block') {
    pen.write(`${paint('dim', FENCE + textOf(metadata['language']))}\n`);
  } else if (type === 'code_reference') {
    const { filePath, startLine, endLine } = metadata;
    const where = `${textOf(filePath)}:${textOf(startLine)}-${textOf(endLine)}`;
    pen.write(`${paint('cyan', where)}\n${paint('dim', FENCE)}\n`);
  } else if (type === 'reasoning') {
    pen.write(`${paint('dim', 'Thinking:')}\n`);
  }
}

/** The part that the screen lacks. Comparing the whole content at each delta would take quadratic time. */
function newsOf(before: Shown | undefined, { content }: Shown, event: ShownEvent): string {
  if (event.type === 'content_delta') return event.delta;
  const seen = before?.content ?? '';
  return content.startsWith(seen) ? content.slice(seen.length) : '';
}

/** Drops empty lines at the start of a text: `gap` has already left one. */
function writeNews(pen: Pen, news: string, wasBlank: boolean, shown: Shown, paint: Paint): void {
  const isThought = shown.type === 'reasoning';
  const isFirst = wasBlank && (isThought || pen.lineEnds === 2);
  const text = isFirst ? printable(news).replace(/^\n+/, '') : printable(news);
  if (isThought) pen.indented(text, (line) => paint('dim', line));
  else pen.write(text);
}

function writeEnd(pen: Pen, { type, metadata }: Shown, view: ResponseView, paint: Paint): void {
  pen.line();
  if (type === 'code_block' || type === 'code_reference') pen.write(`${paint('dim', FENCE)}\n`);
  if (metadata['interrupted'] === true && view !== 'answer') writeInterrupted(pen, paint);
}

function writeInterrupted(pen: Pen, paint: Paint): void {
  pen.write(`${paint('dim', '(interrupted)')}\n`);
}

function textOf(value: unknown): string {
  return shortLine(String(value ?? ''));
}
