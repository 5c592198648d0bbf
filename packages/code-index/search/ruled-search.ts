/** Searches under the ignore rules of a folder, without waiting until all of its ignore files are known. */
import { isDeepStrictEqual } from 'node:util';
import { IGNORE_FILES, type IgnoreRules, readRulesAbove, withRulesBelow } from './ignore-files.ts';
import { SEARCH_LIMITS } from './limits.ts';
import { type Ripgrep, runRipgrep } from './ripgrep.ts';

/**
 * Does the work of a search under the rules of this moment. Finding the ignore files takes a process of its own. So the
 * work begins under the rules of those that the folder had at its last search, as they read now. What it returns counts
 * only if the folder still has these rules; otherwise the work is aborted and done again.
 */
export async function searchUnderRules<Found>(
  { folder, target, signal }: Pick<Ripgrep, 'folder' | 'target' | 'signal'>,
  work: (rules: IgnoreRules, signal: AbortSignal) => Promise<Found>,
): Promise<Found> {
  const above = readRulesAbove(folder).rules;
  // A file that is named alone is searched whatever the rules say.
  if (target !== './') return await work(above, signal);
  const expected = await withRulesBelow(above, folder, lastNames.get(folder) ?? []);
  const guess = new AbortController();
  const guessed = work(expected, AbortSignal.any([signal, guess.signal]));
  guessed.catch(() => {}); // Awaited where it counts.
  try {
    const rules = await readIgnoreRules(folder, signal);
    if (isDeepStrictEqual(rules, expected)) return await guessed;
    guess.abort();
    return await work(rules, signal);
  } finally {
    guess.abort();
  }
}

/** All rules that apply in the folder and below it. Ignore files inside ignored folders are not needed. */
async function readIgnoreRules(folder: string, signal: AbortSignal): Promise<IgnoreRules> {
  const { rules } = readRulesAbove(folder);
  const names = await findIgnoreFiles(folder, rules, signal);
  lastNames.delete(folder);
  if (names.length > 0) lastNames.set(folder, names);
  const [oldest] = lastNames.keys();
  if (lastNames.size > SEARCH_LIMITS.maxIgnoreFolders && oldest !== undefined) {
    lastNames.delete(oldest);
  }
  return await withRulesBelow(rules, folder, names);
}

/** The ignore files in and below a folder, as its last search found them. */
const lastNames = new Map<string, readonly string[]>();

async function findIgnoreFiles(
  folder: string,
  rules: IgnoreRules,
  signal: AbortSignal,
): Promise<string[]> {
  const flags = [
    '--files',
    '--null',
    '--hidden',
    ...IGNORE_FILES.map((name) => `--glob=**/${name}`),
  ];
  const search = { folder, flags, target: './', separator: '\0', rules, signal } as const;
  const names: string[] = [];
  for await (const records of runRipgrep(search)) {
    for (const name of records) {
      if (typeof name === 'string') names.push(name.replace(/^\.\//, ''));
      if (names.length === SEARCH_LIMITS.maxIgnoreFiles) return names;
    }
  }
  return names;
}
