/** The workspace's files as an indented tree, short enough for a prompt. */

import { CONTEXT_LIMITS } from '../../shared/limits.ts';
import { cutNote } from '../../shared/text/cut-lines.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';

/**
 * The tree of some paths, as deep as the limits allow for all folders alike, so that one large folder does not hide the
 * others. A folder whose content is not shown has its number of files behind its name. A first level that is too long
 * is cut. The paths are joined by NUL, because one text goes to another thread much faster than many.
 */
export function formatLayout(files: string): string {
  const tree = toTree(files === '' ? [] : files.split('\0'));
  let shown = linesOf(tree, 1);
  for (let depth = 2; ; depth++) {
    const deeper = linesOf(tree, depth, CONTEXT_LIMITS.maxLayoutEntries + 1);
    if (deeper.length === shown.length || !fits(deeper)) break;
    shown = deeper;
  }
  return fits(shown) ? shown.join('\n') : cut(shown);
}

interface LayoutFolder {
  readonly folders: Map<string, LayoutFolder>;
  readonly files: string[];
}

/** Sorts nothing: of a large folder only a small part is shown. */
function toTree(files: readonly string[]): LayoutFolder {
  const root = newFolder();
  const known = new Map([['', root]]);
  for (const path of files) {
    const [folder, name] = divide(path);
    folderAt(folder, known).files.push(name);
  }
  return root;
}

/** Makes it, and those around it, where it is not known yet. The root's path is empty. */
function folderAt(path: string, known: Map<string, LayoutFolder>): LayoutFolder {
  const before = known.get(path);
  if (before) return before;
  const made = newFolder();
  known.set(path, made);
  const [around, name] = divide(path);
  folderAt(around, known).folders.set(name, made);
  return made;
}

function divide(path: string): readonly [folder: string, name: string] {
  const at = path.lastIndexOf('/');
  return at === -1 ? ['', path] : [path.slice(0, at), path.slice(at + 1)];
}

function newFolder(): LayoutFolder {
  return { folders: new Map(), files: [] };
}

/** In the order of the paths, but folders first. Each level down adds indentation. Stops after so many lines. */
function linesOf(tree: LayoutFolder, levels: number, most = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  const add = ({ folders, files }: LayoutFolder, depth: number, indentation: string) => {
    for (const [name, folder] of [...folders].sort(byPath)) {
      if (lines.length >= most) return;
      const isWhole = depth > 1;
      const count = isWhole ? '' : ` (${formatCount(countIn(folder))})`;
      lines.push(`${indentation}${nameInLine(name)}/${count}`);
      if (isWhole) add(folder, depth - 1, `${indentation}  `);
    }
    for (const name of files.toSorted()) lines.push(`${indentation}${nameInLine(name)}`);
  };
  add(tree, levels, '');
  return lines;
}

/** As the paths of what is in them. */
function byPath([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return `${a}/` < `${b}/` ? -1 : 1;
}

/** Of files at any depth. */
function countIn({ folders, files }: LayoutFolder): number {
  let count = files.length;
  for (const inner of folders.values()) count += countIn(inner);
  return count;
}

function formatCount(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}

function fits(lines: readonly string[]): boolean {
  const { maxLayoutEntries, maxLayoutChars } = CONTEXT_LIMITS;
  return lines.length <= maxLayoutEntries && lines.join('\n').length <= maxLayoutChars;
}

function cut(lines: readonly string[]): string {
  const kept = lines.slice(0, CONTEXT_LIMITS.maxLayoutEntries - 1);
  const note = () => cutNote(lines.length - kept.length, 'use list_dir', 'top-level name');
  while (!fits([...kept, note()])) kept.pop();
  return [...kept, note()].join('\n');
}
