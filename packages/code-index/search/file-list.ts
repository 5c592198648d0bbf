/** Lists the files below a folder as a search sees them, without files that git ignores. */
import { CONTEXT_LIMITS } from '../../../shared/limits.ts';
import type { IgnoreRules } from './ignore-files.ts';
import { SEARCH_LIMITS } from './limits.ts';
import { withLiteralNames } from './literal-names.ts';
import { runRipgrep } from './ripgrep.ts';
import { searchUnderRules } from './ruled-search.ts';

export interface FileList {
  /** Absolute and resolved. */
  readonly folder: string;
  /**
   * Lists only files whose path below the folder matches. `!` before a glob excludes its matches. A name that is there
   * is meant as it is written: see literal-names.ts.
   */
  readonly globs?: readonly string[];
  /** Lists only files with one of these names, in which `*` stands for any characters. Ignored files stay out. */
  readonly named?: readonly string[];
  /** Also lists files and folders whose names begin with a dot. */
  readonly hidden?: boolean;
  /** Lists the most recently changed file first. Otherwise the order is undefined. */
  readonly newestFirst?: boolean;
  /** Where several searches share them. Otherwise this list reads them. */
  readonly rules?: IgnoreRules;
  readonly signal: AbortSignal;
}

/** The paths of the files, relative to the folder and with `/`. */
export async function listFiles(list: FileList): Promise<string[]> {
  const { rules } = list;
  if (rules) return await listUnder({ ...list, rules });
  return await searchUnderRules({ ...list, target: './' }, (rules, signal) =>
    listUnder({ ...list, rules, signal }),
  );
}

/** All files of a folder, hidden ones too, within the time of a look at a workspace. */
export async function listInTime(folder: string, signal: AbortSignal): Promise<string[]> {
  const timeUp = AbortSignal.timeout(CONTEXT_LIMITS.lookTimeoutMs);
  return await listFiles({ folder, hidden: true, signal: AbortSignal.any([signal, timeUp]) });
}

type RuledList = FileList & { readonly rules: IgnoreRules };

async function listUnder(search: RuledList): Promise<string[]> {
  const { globs = [], newestFirst = false } = search;
  if (globs.length === 0) return await runList(search, [], newestFirst);
  const visible = new Set(await runList(search, [], false));
  const meant = globs.map((glob) => withLiteralNames(glob, visible));
  const matching = await runList(search, meant, newestFirst);
  // For ripgrep a glob that names a file overrides .gitignore. Here it does not.
  return matching.filter((name) => visible.has(name));
}

async function runList(
  { folder, hidden = false, named = [], rules, signal }: RuledList,
  globs: readonly string[],
  newestFirst: boolean,
): Promise<string[]> {
  const flags = [
    '--files',
    '--null',
    ...(hidden ? ['--hidden'] : []),
    ...(newestFirst ? ['--sortr=modified'] : []),
    ...globs.map((glob) => `--glob=${glob}`),
    // A glob of a type does not override ignore rules, unlike one of `--glob`.
    ...named.map((name) => `--type-add=named:${name}`),
    ...(named.length > 0 ? ['--type=named'] : []),
  ];
  const names: string[] = [];
  let chars = 0;
  const search = { folder, flags, target: './', separator: '\0', rules, signal } as const;
  for await (const records of runRipgrep(search)) {
    for (const record of records) {
      if (typeof record !== 'string') continue;
      chars += record.length;
      names.push(record.startsWith('./') ? record.slice(2) : record);
      const isFull = chars >= SEARCH_LIMITS.maxListedChars;
      if (isFull || names.length >= SEARCH_LIMITS.maxListedFiles) return names;
    }
  }
  return names;
}
