/** Finds the files that import a file, as its name in their imports shows. */
import { basename, dirname, extname, join } from 'node:path';
import { type Ripgrep, runRipgrep, SEARCH_LIMITS, searchUnderRules } from '../code-index/index.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';

/** Absolute paths, as many as are checked; others than importers may be among them. */
export async function importersOf(
  path: string,
  root: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const way = WAYS.find(({ extensions }) => extensions.test(path));
  if (way === undefined) return [];
  const stem = basename(path, extname(path));
  const name = way.ofFolder.test(stem) ? basename(dirname(path)) : stem;
  const flags = [
    '--files-with-matches',
    '--null',
    `--glob=${way.glob}`,
    `--regexp=${way.pattern(name.replaceAll(/[^\w]/g, '\\$&'))}`,
  ];
  const search = { folder: root, flags, target: './', separator: '\0', signal } as const;
  return await searchUnderRules(search, (rules, signal) =>
    othersThan(path, { ...search, rules, signal }),
  );
}

async function othersThan(path: string, search: Ripgrep): Promise<string[]> {
  const found: string[] = [];
  for await (const records of runRipgrep(search)) {
    const names = records.filter((record) => typeof record === 'string');
    const others = names.map((name) => join(search.folder, name)).filter((other) => other !== path);
    found.push(...others);
    if (found.length >= SEARCH_LIMITS.maxListedFiles) break;
  }
  // Always the same ones. ripgrep's own order would take all but one of its threads away.
  return found.toSorted().slice(0, DIAGNOSTICS_LIMITS.maxImporters);
}

/** How files of a language name each other. */
const WAYS = [
  {
    extensions: /\.[cm]?[jt]sx?$/i,
    glob: '*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}',
    /** Of a file that stands for its folder. */
    ofFolder: /^index$/,
    pattern: (name: string) => `['"](?:[^'"]*/)?${name}(?:\\.\\w+)?['"]`,
  },
  {
    extensions: /\.pyi?$/i,
    glob: '*.{py,pyi}',
    ofFolder: /^__init__$/,
    pattern: (name: string) => `^\\s*(?:from|import)\\s.*\\b${name}\\b`,
  },
] as const;
