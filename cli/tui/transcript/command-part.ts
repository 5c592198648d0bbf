/** A command, what it prints, and how it ended. */
import { type Component, truncateToWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui';
import type { Document } from '../../../client/index.ts';
import { exitLine } from '../../render/tool.ts';
import { Cached } from './cached.ts';
import { type ScreenDocumentProps, textIn } from './document-props.ts';
import { endOf, failureLines, hiddenLine, INDENT, indented, wrapped } from './lines.ts';
import type { Look } from './look.ts';
import { outputLines } from './output-lines.ts';

export function commandPart({ document, look }: ScreenDocumentProps): Component {
  return new Cached((width) => [
    ...titleLines(document, width, look),
    ...indented(printedLines(document, width - INDENT.length, look)),
    ...indented(endLines(document, width - INDENT.length, look)),
  ]);
}

/** The whole command: a person may have to judge it. */
function titleLines(document: Document, width: number, { paint }: Look): string[] {
  const command = textIn(document, 'command') || (document.content ?? '');
  const folder = textIn(document, 'workingDirectory');
  const lines = wrapped(command, width - INDENT.length);
  return [
    ...lines.map((line, at) => paint('bold', `${at === 0 ? '$ ' : INDENT}${line}`)),
    ...(folder === '' || folder === '.'
      ? []
      : indented(wrapped(`in ${folder}`, width - INDENT.length)).map((line) => paint('dim', line))),
  ];
}

function printedLines(document: Document, width: number, look: Look): string[] {
  const output = textIn(document, 'output');
  if (output === '') return [];
  const { text, hidden } = endOf(output, look);
  const fit = (line: string) =>
    look.isExpanded
      ? wrapTextWithAnsi(line, Math.max(1, width))
      : truncateToWidth(line, width, '…');
  return [...hiddenLine(hidden, 'earlier', look), ...outputLines(text, look.paint).flatMap(fit)];
}

function endLines({ metadata }: Document, width: number, { paint }: Look): string[] {
  const { exitCode, duration_ms: durationMs, result } = metadata;
  if (result !== undefined) return failureLines(result, width, paint);
  return exitCode === undefined && durationMs === undefined ? [] : [exitLine(metadata, paint)];
}
