/** Formats a request's information about the user's editor as lines of a prompt. Pure. */
import { nameInLine, shorten } from '../../shared/plain-sight.ts';
import type { RequestContext } from '../../shared/requests.ts';
import { cutLines } from './changes.ts';
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

/** The linter errors, one a line. Undefined if the request does not have the field. */
export function linterLines(context: RequestContext | undefined): string | undefined {
  return context?.linterErrors
    ?.map(({ severity = 'error', message, source, ...place }) => {
      const said = shorten(nameInLine(message), PROMPT_LIMITS.maxLinterMessageChars);
      return `${placeOf(place)}: ${severity}: ${said}${source ? ` (${nameInLine(source)})` : ''}`;
    })
    .join('\n');
}

/** The contents of open files by their paths, within `maxChars` UTF-16 units in all. */
export function openFilesOf(
  context: RequestContext | undefined,
  maxChars: number,
): ReadonlyMap<string, string> {
  let left = maxChars;
  const files = (context?.openFiles ?? []).flatMap((file) => {
    if (typeof file === 'string' || file.content === undefined || left === 0) return [];
    const text = cutLines(file.content, Math.min(left, PROMPT_LIMITS.maxOpenFileChars));
    left = Math.max(0, left - text.length);
    return [[file.path, text] as const];
  });
  return new Map(files);
}

type OpenFile = NonNullable<RequestContext['openFiles']>[number];

function pathOf(file: OpenFile): string {
  return typeof file === 'string' ? file : file.path;
}

interface Place {
  readonly path: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

function placeOf({ path, line, column }: Place): string {
  const numbers = line === undefined ? [] : [line, column].filter((one) => one !== undefined);
  return [nameInLine(path), ...numbers].join(':');
}
