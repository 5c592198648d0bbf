/** Describes the difference of two texts of lines, briefly and without misleading. Pure. */
import { isCutNote } from '../../shared/text/cut-lines.ts';

/** The description of a change. */
export type ChangeText =
  | { readonly state: 'none' }
  /** Removed lines and new lines. */
  | { readonly state: 'lines'; readonly text: string }
  /** The whole new text is needed. */
  | { readonly state: 'whole' };

/**
 * A hidden line must not look removed: the change is `whole` where lines were folded away, or a text was cut off. Where
 * both were cut and `isSorted` says that all lines stand in one order, it has what is sure, and ends with the note of the
 * cut. It is `whole`, too, if the new text is shorter than the changed lines.
 */
export function changeOf(
  before: readonly string[],
  now: readonly string[],
  { isSorted }: { readonly isSorted: boolean },
): ChangeText {
  // The note of a cut has a number, which changes with what is hidden.
  const shown = (lines: readonly string[]) => new Set(lines.filter((line) => !isCutNote(line)));
  const [known, present] = [shown(before), shown(now)];
  const fresh = [...present].filter((line) => !known.has(line));
  const missing = [...known].filter((line) => !present.has(line));
  const mark = now.find(isCutNote);
  const wasCut = before.some(isCutNote);
  const isOneCut = wasCut !== (mark !== undefined);
  if (!isOneCut && missing.length + fresh.length === 0) return { state: 'none' };
  const isUnsure = isOneCut || (wasCut && !isSorted);
  if (isUnsure || isFolded(missing, fresh) || isFolded(fresh, missing)) return { state: 'whole' };
  const gone = mark === undefined ? missing : notBehindTheCut(missing, before, present);
  if (gone.length + fresh.length === 0) return { state: 'none' };
  const lines = [...gone.map((line) => `- ${line}`), ...fresh.map((line) => `+ ${line}`)];
  const text = [...lines, ...(mark ? [mark] : [])].join('\n');
  return text.length < now.join('\n').length ? { state: 'lines', text } : { state: 'whole' };
}

/** Those that stood before a line that is still there. The others may only be cut off now. */
function notBehindTheCut(
  missing: readonly string[],
  before: readonly string[],
  present: ReadonlySet<string>,
): string[] {
  const last = before.findLastIndex((line) => present.has(line));
  const sure = new Set(before.slice(0, Math.max(0, last)));
  return missing.filter((line) => sure.has(line));
}

/** Whether a folder that was shown with its content now shows only its number of files. */
function isFolded(gone: readonly string[], fresh: readonly string[]): boolean {
  const folders = new Set(
    fresh.flatMap((line) => /^(.*\/) \(\d+ files?\)$/s.exec(line)?.[1] ?? []),
  );
  return gone.some((line) => folders.has(line));
}

/** The lines of an indented tree, each as a full path. */
export function pathsIn(tree: string): string[] {
  const above: { indent: number; path: string }[] = [];
  return linesIn(tree).map((line) => {
    const name = line.trimStart();
    const indent = line.length - name.length;
    while ((above.at(-1)?.indent ?? -1) >= indent) above.pop();
    const path = `${above.at(-1)?.path ?? ''}${name}`;
    above.push({ indent, path: path.endsWith('/') ? path : `${path}/` });
    return path;
  });
}

/** The lines that are not blank. */
export function linesIn(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}
