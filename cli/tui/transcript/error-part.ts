/** What went wrong, and what to do. */
import type { Component } from '@earendil-works/pi-tui';
import type { ChatResponse, Document } from '../../../client/index.ts';
import { ToolOutcome } from '../../../shared/wire/documents.ts';
import { shortLine } from '../../terminal/short-line.ts';
import { Cached } from './cached.ts';
import { type DocumentProps, textIn } from './document-props.ts';
import { endOf, hiddenLine, INDENT, indented, wrapped } from './lines.ts';
import { resultText } from './result-lines.ts';

export function errorPart({ document, response, look }: DocumentProps): Component {
  return new Cached((width) => {
    if (isShownByCall(document, response)) return [];
    const content = document.content ?? '';
    const details = textIn(document, 'details');
    const code = shortLine(textIn(document, 'errorCode'));
    const red = (line: string) => look.paint('red', line);
    const { text, hidden } = endOf(details === content ? '' : details, look);
    return [
      ...wrapped(`error ${code}: ${content || details}`, width).map(red),
      ...indented(hiddenLine(hidden, 'earlier', look)),
      ...indented(text === '' ? [] : wrapped(text, width - INDENT.length).map(red)),
    ];
  });
}

/** Whether a command or an edit before it says the same: it shows why it failed. */
export function isShownByCall(document: Document, { documents }: ChatResponse): boolean {
  if (document.type !== 'error') return false;
  const details = textIn(document, 'details');
  return documents.slice(0, documents.indexOf(document)).some(({ type, metadata }) => {
    if (type !== 'terminal_command' && type !== 'file_edit') return false;
    const outcome = ToolOutcome.safeParse(metadata['result']).data;
    return outcome?.status === 'error' && resultText(outcome) === details;
  });
}
