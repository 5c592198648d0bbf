/**
 * A file whose lines end with CR LF is searched as if they ended with LF: that is how tools show its text, so a pattern
 * is written for that.
 */

/** ripgrep's flag by which `^`, `$` and `.` take CR LF for one line end. */
export const LINE_END_FLAG = '--crlf';

/**
 * The pattern, with which everything that matches a line end also matches CR LF, and a class of all but line ends takes no
 * CR. For patterns that may span lines.
 */
export function overLineEnds(pattern: string): string {
  return pattern.replace(ATOM, (atom) => {
    if (matchesLineEnd(atom)) return `(?:\\r\\n|${atom})`;
    return NOT_LINE_END.test(atom) ? atom.replace('^', '^\\r') : atom;
  });
}

const NOT_LINE_END = /^\[\^.*(?:\\n|\n)/s;

/** What stands for one character and could be a line end; in a class, `]` comes first or escaped. */
const ATOM = /\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]|[.\n]/g;

/** Forms of ripgrep's own, such as classes of classes, stay as they are. */
function matchesLineEnd(atom: string): boolean {
  if (OF_CLASSES.test(atom)) return false;
  try {
    return new RegExp(`^(?:${atom})$`, 's').test('\n');
  } catch {
    return false;
  }
}

const OF_CLASSES = /^\[.+(?:\[|&&|~~)/s;
