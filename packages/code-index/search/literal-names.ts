/**
 * A path that somebody writes as a glob may have brackets or braces in a name: `app/[slug]/page.tsx`. Where there is a
 * file or a folder of that very name, it is meant, and not a set of characters.
 */

/** The glob, with each part that is a name of these paths written so that it matches that name alone. */
export function withLiteralNames(glob: string, paths: Iterable<string>): string {
  const parts = glob.split('/');
  const asked = new Set(parts.filter((part) => /[[\]{}]/.test(part) && !/[*?\\]/.test(part)));
  if (asked.size === 0) return glob;
  const there = new Set<string>();
  for (const path of paths) {
    for (const name of path.split('/')) if (asked.has(name)) there.add(name);
    if (there.size === asked.size) break;
  }
  return parts.map((part) => (there.has(part) ? literalGlob(part) : part)).join('/');
}

/** The glob of ripgrep's that only this name matches. */
function literalGlob(name: string): string {
  return name.replace(/[[\]{}]/g, '[$&]');
}
