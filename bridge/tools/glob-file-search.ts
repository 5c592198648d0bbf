/** Runs glob_file_search: finds files by the pattern of their path, newest first. */
import { join } from 'node:path';
import { filterInTurns } from '../../machine/compute/turns.ts';
import { linesThatFit } from '../../machine/result-lines.ts';
import { listFiles } from '../../packages/code-index/index.ts';
import type { ArgumentsOf, ToolExecutor } from '../../packages/host/index.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { globFileSearch } from '../../shared/tools/glob-file-search.ts';

export const executeGlobFileSearch: ToolExecutor<ArgumentsOf<typeof globFileSearch>> = async (
  args,
  { workspace, places: [place], signal },
) => {
  const listed = await listFiles({
    folder: place.path,
    globs: [atAnyDepth(args.glob_pattern)],
    hidden: true,
    newestFirst: true,
    signal,
  });
  const found = await filterInTurns(listed, (name) => workspace.mayName(join(place.path, name)));
  const shown = linesThatFit(
    found
      .slice(0, TOOL_LIMITS.maxEntries)
      .map((name) => nameInLine(workspace.nameOf(join(place.path, name)))),
    TOOL_LIMITS.maxEntries,
  );
  return { status: 'success', data: [...shown, summarize(shown.length, found.length)].join('\n') };
};

/** Adds `**` in front of a pattern without it. ripgrep does that itself for a lone name, but not for `src/*.ts`. */
function atAnyDepth(pattern: string): string {
  const relative = pattern.replace(/^(?:\.?\/)+/, '');
  return relative.startsWith('**/') ? relative : `**/${relative}`;
}

function summarize(shown: number, found: number): string {
  if (found === 0) return '(No file matches. Ignored files are not looked at.)';
  if (shown < found) {
    return `(The newest ${shown} of ${found} files: narrow the pattern or the directory to see others.)`;
  }
  return `(${found} ${found === 1 ? 'file' : 'files'}, newest first.)`;
}
