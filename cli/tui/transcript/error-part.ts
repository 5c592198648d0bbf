/** What went wrong, and what to do. */
import type { Component } from '@earendil-works/pi-tui';
import { isShownByCall } from '../../render/result-text.ts';
import { asTyped } from '../../terminal/own-command.ts';
import { shortLine } from '../../terminal/short-line.ts';
import { Cached } from './cached.ts';
import { type ScreenDocumentProps, textIn } from './document-props.ts';
import { endOf, hiddenLine, INDENT, indented, wrapped } from './lines.ts';

export function errorPart({ document, response, look }: ScreenDocumentProps): Component {
  return new Cached((width) => {
    if (isShownByCall(document, response)) return [];
    const content = asTyped(document.content ?? '');
    const details = asTyped(textIn(document, 'details'));
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
