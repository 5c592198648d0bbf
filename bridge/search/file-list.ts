/** Lists the files below a folder as a search sees them: without what git ignores. */
import { TOOL_LIMITS } from '../../shared/limits.ts';
import type { IgnoreRules } from './ignore-files.ts';
import { readIgnoreRules, runRipgrep } from './ripgrep.ts';

export interface FileList {
  /** Absolute and resolved. */
  readonly folder: string;
  /** Only files whose path below the folder matches; `!` before a glob leaves those out. */
  readonly globs?: readonly string[];
  /** Also files and folders whose name begins with a dot. */
  readonly hidden?: boolean;
  /** The most lately changed first; otherwise in no order. */
  readonly newestFirst?: boolean;
  /** As {@link runRipgrep} takes them. */
  readonly rules?: IgnoreRules;
  readonly signal: AbortSignal;
}

/** The paths of the files, relative to the folder and with `/`. */
export async function listFiles(list: FileList): Promise<string[]> {
  const { globs = [], newestFirst = false } = list;
  const rules = list.rules ?? (await readIgnoreRules({ ...list, target: './' }));
  const search = { ...list, rules };
  const matching = await runList(search, globs, newestFirst);
  const wanted = globs.some((glob) => !glob.startsWith('!'));
  if (!wanted) return matching;
  // To ripgrep a glob that names a file outweighs .gitignore; here it does not.
  const visible = new Set(await runList(search, [], false));
  return matching.filter((name) => visible.has(name));
}

async function runList(
  { folder, hidden = false, rules, signal }: FileList & { readonly rules: IgnoreRules },
  globs: readonly string[],
  newestFirst: boolean,
): Promise<string[]> {
  const flags = [
    '--files',
    '--null',
    ...(hidden ? ['--hidden'] : []),
    ...(newestFirst ? ['--sortr=modified'] : []),
    ...globs.map((glob) => `--glob=${glob}`),
  ];
  const names: string[] = [];
  let chars = 0;
  for await (const record of runRipgrep({
    folder,
    flags,
    target: './',
    separator: '\0',
    rules,
    signal,
  })) {
    if (record === null) continue;
    chars += record.length;
    names.push(record.replace(/^\.\//, ''));
    const isFull = chars >= TOOL_LIMITS.maxListedChars;
    if (isFull || names.length >= TOOL_LIMITS.maxListedFiles) break;
  }
  return names;
}
