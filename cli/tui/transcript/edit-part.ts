/** A change to a file, line by line. */
import type { Component } from '@earendil-works/pi-tui';
import type { Document } from '../../../client/index.ts';
import { countChanged } from '../../../shared/shown/diff-rows.ts';
import { nameInLine, printableLine } from '../../../shared/text/plain-sight.ts';
import { type Diff, FileEditMetadata } from '../../../shared/wire/documents.ts';
import { RENDER_LIMITS } from '../../limits.ts';
import type { Paint } from '../../terminal/paint.ts';
import { shortLine } from '../../terminal/short-line.ts';
import { Cached } from './cached.ts';
import { diffLines } from './diff-lines.ts';
import { isGrowing, type ScreenDocumentProps, textIn } from './document-props.ts';
import { endOf, failureLines, hiddenLine, INDENT, indented, plain, wrapped } from './lines.ts';
import type { Look } from './look.ts';

export function editPart(props: ScreenDocumentProps): Component {
  const { document, look } = props;
  return new Cached((width) => {
    const hunks = hunksOf(document);
    const room = width - INDENT.length;
    const body =
      hunks.length === 0 && isGrowing(props)
        ? begunLines(document, look)
        : diffLines(hunks, room, look);
    return [
      titleOf(document, hunks, look.paint),
      ...indented(body),
      ...indented(noteLines(document, room, look)),
    ];
  });
}

function titleOf(document: Document, hunks: readonly Diff[], paint: Paint): string {
  const { result, diff } = document.metadata;
  const mark = result !== undefined ? 'red' : diff !== undefined ? 'green' : 'dim';
  const operation = shortLine(textIn(document, 'operation') || 'edit');
  const paths = [textIn(document, 'filePath'), textIn(document, 'newPath')]
    .filter((path) => path !== '')
    .map((path) => paint('cyan', nameInLine(path)));
  const { added, removed } = countChanged(hunks);
  return [
    `${paint(mark, '•')} ${paint('bold', operation)}`,
    paths.join(' → '),
    ...(hunks.length > 0 ? [paint('green', `+${added}`), paint('red', `−${removed}`)] : []),
    ...(result === undefined ? [] : [paint('red', 'not applied')]),
  ].join(' ');
}

/** The changes; those of a new file are its content. */
function hunksOf({ metadata, content }: Document): readonly Diff[] {
  const { hunks, diff } = Changes.safeParse(metadata).data ?? {};
  const known = hunks ?? (diff ? [diff] : []);
  const isNew = metadata['operation'] === 'create' && metadata['diff'] !== undefined && content;
  if (known.length > 0 || !isNew) return known;
  return [{ oldString: '', newString: content, startLine: 1, endLine: 1 }];
}

const Changes = FileEditMetadata.pick({ hunks: true, diff: true });

/** The end of what the model has written of a file so far. */
function begunLines({ content }: Document, look: Look): string[] {
  if (!content) return [];
  const { text, hidden } = endOf(content, look);
  const lines = plain(text).split('\n');
  return [...hiddenLine(hidden, 'earlier', look), ...lines];
}

/** What checkers and formatters say of the edit, and why it was not made. */
function noteLines({ metadata }: Document, width: number, { paint, isExpanded }: Look): string[] {
  const { maxReasonChars } = RENDER_LIMITS;
  const notes = Notes.safeParse(metadata).data ?? {};
  const { linter_errors: errors = [], checked_by: checker, formatted_by: formatter } = notes;
  const dim = [
    ...(checker === undefined ? [] : [`checked by ${checker}`]),
    ...(formatter === undefined ? [] : [`formatted by ${formatter}`]),
    ...(notes.not_checked === undefined ? [] : [`not checked (${notes.not_checked})`]),
    ...(notes.not_formatted === undefined ? [] : [`not formatted (${notes.not_formatted})`]),
  ];
  return [
    ...errors.flatMap(({ path = String(metadata['filePath']), line, column, message, source }) => {
      const from = source === undefined ? '' : ` (${source})`;
      const words = `${nameInLine(path)}:${line}:${column} ${message}${from}`;
      return wrapped(words, width).map((part) => paint('red', part));
    }),
    ...dim
      // The screen cuts a long line.
      .flatMap((note) => (isExpanded ? wrapped(note, width) : printableLine(note, maxReasonChars)))
      .map((line) => paint('dim', line)),
    ...failureLines(metadata['result'], width, paint),
  ];
}

const Notes = FileEditMetadata.pick({
  linter_errors: true,
  checked_by: true,
  not_checked: true,
  formatted_by: true,
  not_formatted: true,
}).partial();
