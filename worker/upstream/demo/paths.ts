/** Paths as people write them among other words. */
import type { Clause } from './clauses.ts';

/** Words for the workspace as a whole. */
export const WHOLE =
  /^(?:project|workspace|repo|repository|code|codebase|code base|folder|directory|files|here|it|this)$/i;

/** `a.ts, b.ts and c.ts`; undefined when one of them is no path. */
export function splitPaths(
  text: string,
  file: string | undefined,
  clause: Clause,
): string[] | undefined {
  const pieces = text.split(/\s*,\s*(?:and\s+)?|\s+and\s+/).map((piece) => piece.trim());
  const only = pieces.length === 1 && file !== undefined && !/\s/.test(text);
  return only || pieces.every(isPath) ? pieces.map((piece) => pathOf(piece, clause)) : undefined;
}

const BARE_FILE = /^(?:readme|license|makefile|dockerfile|changelog|procfile)$/i;

/** One word with a dot or a slash in it, a file known without either, or something quoted. */
export function isPath(text: string): boolean {
  return /^\S*(?:[./]|\uE001)\S*$/.test(text) || BARE_FILE.test(text);
}

/** A path as the tools take it: without the `@` of a mention. */
export function pathOf(text: string, clause: Clause): string {
  const path = clause
    .value(text)
    .replace(/^@/, '')
    .replace(/(?<=.)[,:]$/, '');
  return path.toLowerCase() === 'readme' ? 'README.md' : path;
}

/** Null for the whole workspace. */
export function placeOf(text: string | undefined, clause: Clause): string | null {
  return text === undefined || WHOLE.test(text) ? null : pathOf(text, clause);
}
