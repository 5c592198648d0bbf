/** Matches paths against globs from outside. Nothing backtracks: the work is the product of both lengths. Pure. */

/**
 * Whether one of the globs matches the path and none that begins with `!` does. Both are relative to the same folder. A
 * glob without a slash matches the file's name in any folder, as people mean it by `*.ts`.
 */
export function matchesGlobs(globs: readonly string[], path: string): boolean {
  const matches = (glob: string) =>
    [glob, ...alternatives(glob)].some((one) => matchesGlob(one, path));
  const refused = globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1));
  const wanted = globs.filter((glob) => !glob.startsWith('!'));
  return wanted.some(matches) && !refused.some(matches);
}

/** Alternatives of one glob: people write two or three. */
const MAX_ALTERNATIVES = 64;

/** `a.{b,c}` is `a.b` and `a.c`, also nested. What exceeds the limit, or has no closing brace, is taken as it is. */
function alternatives(glob: string): string[] {
  let globs = [glob];
  while (globs.length <= MAX_ALTERNATIVES) {
    const split = globs.map(splitInnermost);
    if (split.every((parts) => parts === null)) break;
    globs = globs.flatMap((one, index) => split[index] ?? [one]);
  }
  return globs.slice(0, MAX_ALTERNATIVES);
}

/** The glob once for each part of its first braces without braces inside; null without any. */
function splitInnermost(glob: string): string[] | null {
  const close = glob.indexOf('}');
  const open = close < 0 ? -1 : glob.lastIndexOf('{', close);
  if (open < 0) return null;
  const parts = glob.slice(open + 1, close).split(',');
  return parts.map((part) => glob.slice(0, open) + part + glob.slice(close + 1));
}

function matchesGlob(glob: string, path: string): boolean {
  const plain = glob.replace(/^(?:\.?\/)+/, '').replace(/\/$/, '/**/*');
  const names = plain.includes('/') ? plain.split('/') : ['**', plain];
  return matchesStars(names, path.split('/'), (name) => name === '**', matchesName);
}

/** A name with brackets or braces is also meant as it is written: `app/[slug]/page.tsx`. */
function matchesName(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  const signs = pattern.match(/\[[^\]]+\]|[\s\S]/gu) ?? [];
  return matchesStars(signs, [...name], (sign) => sign === '*', matchesSign);
}

function matchesSign(sign: string, char: string): boolean {
  if (sign === '?') return true;
  if (sign.length < 3 || !sign.startsWith('[')) return sign === char;
  const isNot = /^\[[!^]/.test(sign);
  return isNot !== isInSet([...sign.slice(isNot ? 2 : 1, -1)], char);
}

/** A set like `a-z_`. */
function isInSet(set: readonly string[], char: string): boolean {
  return set.some((one, index) => {
    const isRange = set[index + 1] === '-' && set[index + 2] !== undefined;
    return isRange ? one <= char && char <= (set[index + 2] ?? '') : one === char;
  });
}

/** Whether the pattern matches all items; a star stands for any number. Only the newest star takes one more. */
function matchesStars(
  pattern: readonly string[],
  items: readonly string[],
  isStar: (sign: string) => boolean,
  matches: (sign: string, item: string) => boolean,
): boolean {
  let [at, item] = [0, 0];
  let star: { readonly at: number; item: number } | null = null;
  while (item < items.length) {
    const sign = pattern[at];
    if (sign !== undefined && isStar(sign)) star = { at: at++, item };
    else if (sign !== undefined && matches(sign, items[item] ?? '')) {
      at++;
      item++;
    } else if (star) {
      item = ++star.item;
      at = star.at + 1;
    } else return false;
  }
  return pattern.slice(at).every(isStar);
}
