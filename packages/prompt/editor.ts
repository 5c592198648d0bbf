/** Formats what a request and the bridge report about the user's editor as lines of a prompt. Pure. */

import type { RequestContext } from '../../shared/api/requests.ts';
import { cutLines, cutNote } from '../../shared/text/cut-lines.ts';
import { nameInLine, shorten } from '../../shared/text/plain-sight.ts';
import type { Diagnostics, Findings } from '../../shared/wire/findings.ts';
import type { EditorContext } from '../../shared/wire/tunnel.ts';
import { PROMPT_LIMITS } from './limits.ts';

/** One or more lines of each kind. A kind is missing if the request does not have it. */
export type EditorLines = ReadonlyMap<'cursor' | 'open' | 'recent', string>;

/** `maxChars` are UTF-16 units. The cursor may take all of them, and each list half of them. */
export function fileNamesOf(context: RequestContext | undefined, maxChars: number): EditorLines {
  const { cursor, openFiles, recentFiles } = context ?? {};
  const listed = (label: string, paths: readonly string[]) =>
    cutLines(paths.map((path) => `${label}: ${nameInLine(path)}`).join('\n'), maxChars / 2);
  const lines: [kind: 'cursor' | 'open' | 'recent', text: string | undefined][] = [
    ['cursor', cursor && cutLines(`Cursor: ${placeOf(cursor)}`, maxChars)],
    ['open', openFiles && listed('Open', openFiles.map(pathOf))],
    ['recent', recentFiles && listed('Recently viewed', recentFiles)],
  ];
  return new Map(lines.flatMap(([kind, text]) => (text === undefined ? [] : [[kind, text]])));
}

/** Joins the lines for one tag. */
export function joinNames(names: EditorLines): string {
  return (['cursor', 'open', 'recent'] as const)
    .flatMap((kind) => names.get(kind) || [])
    .join('\n');
}

/** The source of errors: the request, or the editor on the bridge's machine. */
type LinterSource = 'request' | 'editor';

/** Errors of linters by their source. A missing source shows nothing. */
export interface LinterErrors {
  readonly bySource: ReadonlyMap<LinterSource, readonly LinterLine[]>;
  /** UTF-16 units of all of them as they are sent. */
  readonly maxChars: number;
}

interface LinterLine {
  readonly line: string;
  /** The same for the same error from both sources; null for a note. */
  readonly about: string | null;
}

/** `root` is the bridge's workspace, which its editor's paths are relative to. */
export function linterErrorsOf(
  context: RequestContext | undefined,
  diagnostics: Diagnostics | undefined,
  { root, maxChars }: { readonly root: string | undefined; readonly maxChars: number },
): LinterErrors {
  const bySource = new Map<LinterSource, LinterLine[]>();
  if (context?.linterErrors) {
    bySource.set(
      'request',
      context.linterErrors.map((error) => linterLine(error, root)),
    );
  }
  if (diagnostics) {
    const { items, leftOut } = diagnostics;
    const note = { line: cutNote(leftOut, 'use the tools'), about: null };
    const lines = items.map((error) => linterLine(error, root));
    bySource.set('editor', [...lines, ...(leftOut > 0 ? [note] : [])]);
  }
  return { bySource, maxChars };
}

/** One a line, the request's first, and each error once. */
export function joinLinterErrors({ bySource, maxChars }: LinterErrors): string {
  const asked = bySource.get('request') ?? [];
  const known = new Set(asked.map(({ about }) => about));
  const others = (bySource.get('editor') ?? []).filter(({ about }) => !known.has(about));
  return cutLines([...asked, ...others].map(({ line }) => line).join('\n'), maxChars);
}

type LinterError = NonNullable<RequestContext['linterErrors']>[number];

function linterLine(error: LinterError, root: string | undefined): LinterLine {
  const { severity = 'error', message, source, ...place } = error;
  const said = shorten(nameInLine(message), PROMPT_LIMITS.maxLinterMessageChars);
  const linter = source ? ` (${nameInLine(source)})` : '';
  return {
    line: `${placeOf(place)}: ${severity}: ${said}${linter}`,
    // Linters of two editors may count columns otherwise.
    about: JSON.stringify([nameWithin(place.path, root), place.line, said]),
  };
}

/** The path relative to the folder, if it lies there. */
export function nameWithin(path: string, folder: string | undefined): string {
  return folder !== undefined && path.startsWith(`${folder}/`)
    ? path.slice(folder.length + 1)
    : path;
}

/** The contents of open files by path, within `maxChars` in all: those of the request, then those of the bridge. */
export function openFilesOf(
  context: RequestContext | undefined,
  findings: Findings | undefined,
  maxChars: number,
): ReadonlyMap<string, string> {
  const sent = (context?.openFiles ?? []).flatMap((file) =>
    typeof file === 'string' || file.content === undefined
      ? []
      : [{ path: file.path, text: file.content }],
  );
  return textsWithin([...sent, ...(findings?.openFiles ?? [])], maxChars);
}

/** Files that others changed, with the differences. Undefined where nothing is known of them. */
export function changedFilesOf(
  findings: Findings | undefined,
  maxChars: number,
): ReadonlyMap<string, string> | undefined {
  return findings && textsWithin(findings.changed, maxChars);
}

function textsWithin(files: Findings['openFiles'], maxChars: number): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  let left = maxChars;
  for (const { path, text } of files) {
    // Of a file without room the note of the cut is sent.
    const isOver = left === 0 && texts.size >= PROMPT_LIMITS.maxNotedFiles;
    if (isOver || texts.has(path)) continue;
    const short = cutLines(text, Math.min(left, PROMPT_LIMITS.maxOpenFileChars), 'use read_file');
    left = Math.max(0, left - short.length);
    texts.set(path, short);
  }
  return texts;
}

/** Whether the request describes an editor. */
export function namesEditor(context: RequestContext | undefined): boolean {
  const { cursor, selection, openFiles, recentFiles } = context ?? {};
  return [cursor, selection, openFiles, recentFiles].some((sent) => sent !== undefined);
}

/** The editor on the bridge's machine: its name, the file with the focus, and the other open files. */
export function editorLines({ name, openFiles }: EditorContext): string {
  const files = openFiles.map(({ path, isActive, cursor }) => {
    const place = { path, line: cursor?.line, column: cursor?.character };
    return isActive ? `Active: ${placeOf(place)}` : `Open: ${nameInLine(path)}`;
  });
  return [`Editor: ${nameInLine(name)}`, ...(files.length > 0 ? files : [NO_FILES])].join('\n');
}

/** The place and text of the selection; empty without one, undefined where no editor shows it. */
export function selectedText(
  context: RequestContext | undefined,
  editor: EditorContext | undefined,
): string | undefined {
  const active = editor?.openFiles.find((file) => file.selectedText !== undefined);
  const machines = active && { path: active.path, line: undefined, text: active.selectedText };
  const { text = '', ...place } = context?.selection ?? machines ?? { path: '' };
  if (text !== '') return `${placeOf(place)}\n${text}`;
  return context?.selection || editor ? '' : undefined;
}

const NO_FILES = '(no open files)';

type NamedOpenFile = NonNullable<RequestContext['openFiles']>[number];

function pathOf(file: NamedOpenFile): string {
  return typeof file === 'string' ? file : file.path;
}

interface EditorPlace {
  readonly path: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

function placeOf({ path, line, column }: EditorPlace): string {
  const numbers = line === undefined ? [] : [line, column].filter((one) => one !== undefined);
  return [nameInLine(path), ...numbers].join(':');
}
