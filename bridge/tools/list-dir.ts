/** Runs list_dir: lists one folder, without hidden and ignored entries. */
import { join } from 'node:path';
import { linesThatFit } from '../../machine/result-lines.ts';
import { listFiles } from '../../packages/code-index/index.ts';
import type { ArgumentsOf, ToolExecutor } from '../../packages/host/index.ts';
import { type FolderEntry, readEntries } from '../../packages/workspace/index.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { listDir } from '../../shared/tools/list-dir.ts';

export const executeListDir: ToolExecutor<ArgumentsOf<typeof listDir>> = async (
  args,
  { workspace, places: [place], signal },
) => {
  const mayName = (name: string, isFolder = false) =>
    workspace.mayName(join(place.path, name), isFolder);
  const entries = await readEntries(place);
  const present = entries.filter(({ name, kind }) => mayName(name, kind === 'folder'));
  const globs = (args.ignore_globs ?? []).map((glob) => `!${glob.replace(/^!/, '')}`);
  const files = await listFiles({ folder: place.path, globs, signal });
  const counts = countBelow(files.filter((name) => mayName(name)));
  const lines = present
    .filter((entry) => !entry.name.startsWith('.'))
    .map((entry) => describe(entry, counts.get(entry.name)))
    .filter((line) => line !== null);
  const shown = linesThatFit(lines, TOOL_LIMITS.maxEntries);
  const summary = summarize(nameInLine(place.name), shown.length, lines.length, present.length);
  return { status: 'success', data: [...shown, summary].join('\n') };
};

/** Null leaves an entry out: a file that the search does not list, or a folder without any such file. */
function describe(entry: FolderEntry, count: number | undefined): string | null {
  const { kind } = entry;
  const name = nameInLine(entry.name);
  switch (kind) {
    case 'file':
      return count === undefined ? null : name;
    case 'folder':
      return count === undefined ? null : `${name}/ (${count} ${count === 1 ? 'file' : 'files'})`;
    case 'link':
      return `${name} (link)`;
    case 'other':
      return null;
  }
}

/** How many files the search lists below each entry. A file counts once for itself. */
function countBelow(files: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const file of files) {
    const entry = file.slice(0, Math.max(0, file.indexOf('/'))) || file;
    counts.set(entry, (counts.get(entry) ?? 0) + 1);
  }
  return counts;
}

function summarize(name: string, shown: number, visible: number, present: number): string {
  if (present === 0) return `(${name} is empty.)`;
  if (visible === 0) return `(Everything in ${name} is hidden, ignored or empty.)`;
  const cut = shown < visible ? ` The first ${shown} are shown.` : '';
  return `(${visible} of ${present} entries of ${name}; the others are hidden, ignored or empty.${cut})`;
}
