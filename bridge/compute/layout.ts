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
    const deeper = linesOf(tree, depth);
    if (deeper.length === shown.length || !fits(deeper)) break;
    shown = deeper;
  }
  return fits(shown) ? shown.join('\n') : cut(shown);
}

interface LayoutFolder {
  readonly folders: Map<string, LayoutFolder>;
  readonly files: string[];
  /** Number of files in it at any depth. */
  count: number;
}

function toTree(files: readonly string[]): LayoutFolder {
  const root = newFolder();
  for (const path of [...files].sort()) {
    const names = path.split('/');
    const name = names.pop() ?? '';
    let folder = root;
    for (const each of names) {
      const inner = folder.folders.get(each) ?? newFolder();
      folder.folders.set(each, inner);
      inner.count++;
      folder = inner;
    }
    folder.files.push(name);
  }
  return root;
}

function newFolder(): LayoutFolder {
  return { folders: new Map(), files: [], count: 0 };
}

/** Folders come first. Each level down adds indentation and lowers `depth`. */
function linesOf({ folders, files }: LayoutFolder, depth: number, indentation = ''): string[] {
  const inFolders = [...folders].flatMap(([name, folder]) => {
    if (depth === 1) return [`${indentation}${nameInLine(name)}/ (${formatCount(folder.count)})`];
    return [
      `${indentation}${nameInLine(name)}/`,
      ...linesOf(folder, depth - 1, `${indentation}  `),
    ];
  });
  return [...inFolders, ...files.map((name) => `${indentation}${nameInLine(name)}`)];
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
