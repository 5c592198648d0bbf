/** Ranks the paths of a workspace by how well they fit what a person typed. */

import { Turns } from '../../machine/compute/turns.ts';
import { isSubsequence } from '../../shared/text/subsequence.ts';
import type { FoundFile } from '../../shared/wire/files.ts';

export interface CompletionEntry extends FoundFile {
  /** The path in lower case. */
  readonly text: string;
  /** Where its last name begins. */
  readonly nameAt: number;
}

export function newEntry({ path, type }: FoundFile): CompletionEntry {
  const text = path.toLowerCase();
  // A folder's path ends with a slash.
  return { path, type, text, nameAt: text.lastIndexOf('/', text.length - 2) + 1 };
}

export interface CompletionRanking {
  readonly query: string;
  /** Of entries that fit equally well, these paths come first. Then the order of the entries counts. */
  readonly preferred: ReadonlySet<string>;
  /** Asked only about entries that are good enough. */
  readonly mayShow: (entry: CompletionEntry) => boolean;
  readonly limit: number;
}

/** The entries that fit the query, the best first. */
export async function rank(
  entries: readonly CompletionEntry[],
  { query, preferred, mayShow, limit }: CompletionRanking,
): Promise<CompletionEntry[]> {
  const wanted = query.toLowerCase();
  const best: { readonly entry: CompletionEntry; readonly score: number }[] = [];
  const turns = new Turns();
  for (const entry of entries) {
    if (turns.isDue) await turns.take();
    const fit = fitOf(entry, wanted);
    if (fit === 0) continue;
    const score = preferred.has(entry.path) ? fit + 1 / 2 : fit;
    const last = best[limit - 1];
    if ((last && last.score >= score) || !mayShow(entry)) continue;
    const at = best.findIndex((other) => other.score < score);
    best.splice(at < 0 ? best.length : at, 0, { entry, score });
    best.length = Math.min(best.length, limit);
  }
  return best.map(({ entry }) => entry);
}

/** 0 where the query's characters do not stand in the path in this order. */
function fitOf({ text, nameAt }: CompletionEntry, query: string): number {
  if (!isSubsequence(query, text)) return 0;
  if (text === query) return 8;
  if (text.startsWith(query, nameAt)) return isStem(text, nameAt + query.length) ? 7 : 6;
  if (text.startsWith(query)) return 5;
  if (text.includes(query, nameAt)) return 4;
  if (text.includes(query)) return 3;
  return isSubsequence(query, text, nameAt) ? 2 : 1;
}

/** Whether a name, or its part before an extension, ends there. */
function isStem(text: string, end: number): boolean {
  return end === text.length || text[end] === '.' || text[end] === '/';
}
