/**
 * What has changed between two texts of lines, told as short as it can be without misleading.
 * Pure.
 */

/** What to tell of a text that may have changed. */
export type Change =
  | { readonly state: 'none' }
  /** Lines that are gone and lines that are new. */
  | { readonly state: 'lines'; readonly text: string }
  /** The new text as a whole. */
  | { readonly state: 'whole' };

/**
 * The whole where that is shorter, and where lines were cut off or folded away: a line that is only
 * out of sight must not look as if it were gone.
 */
export function changeOf(before: readonly string[], now: readonly string[]): Change {
  const [known, present] = [new Set(before), new Set(now)];
  const gone = [...known].filter((line) => !present.has(line));
  const fresh = [...present].filter((line) => !known.has(line));
  if (gone.length + fresh.length === 0) return { state: 'none' };
  const isHidden = [...before, ...now].some(isCut);
  if (isHidden || isFolded(gone, fresh) || isFolded(fresh, gone)) return { state: 'whole' };
  const text = [...gone.map((line) => `- ${line}`), ...fresh.map((line) => `+ ${line}`)].join('\n');
  return text.length < now.join('\n').length ? { state: 'lines', text } : { state: 'whole' };
}

/** Whether a folder that was shown inside is now told by its number of files. */
function isFolded(gone: readonly string[], fresh: readonly string[]): boolean {
  const folders = new Set(
    fresh.flatMap((line) => /^(.*\/) \(\d+ files?\)$/s.exec(line)?.[1] ?? []),
  );
  return gone.some((line) => folders.has(line));
}

/** The lines of an indented tree, each with the folders above it. */
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

/** Those that say something. */
export function linesIn(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

/** Whole lines of a text, no more than so many UTF-16 units of them; a mark stands for the rest. */
export function cutLines(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = text.lastIndexOf('\n', Math.max(0, maxChars - CUT.length - 1));
  return end <= 0 ? CUT : `${text.slice(0, end)}\n${CUT}`;
}

const CUT = '... (cut: use the tools to see the rest)';

/** Whether the line is {@link CUT}, or the bridge's own mark for the same. */
function isCut(line: string): boolean {
  return line.startsWith('... (cut');
}
