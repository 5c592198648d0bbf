/** Recognizes the comment that stands for unchanged code, such as `// ... existing code ...`. */
import { eachLineText } from './lines.ts';

/**
 * Whether the line alone says that code was left out: a comment that begins with an ellipsis and a word such as
 * existing, rest or unchanged. Without comment signs a space must follow the ellipsis, because `...rest` is code.
 */
export function isMarker(line: string): boolean {
  const comment = parseComment(line);
  if (comment === null) return false;
  return comment.isComment ? MARKER.test(comment.body) : BARE_MARKER.test(comment.body);
}

/**
 * The first line of a new text that leaves code out and is not in the old text: it would be written literally, and the
 * code would be missing. Comments that only end with the ellipsis count here too (`// rest of the class ...`).
 */
export function findLeftMarker(newText: string, oldText: string): string | null {
  const candidates = new Map<string, string>();
  for (const line of eachLineText(newText)) {
    if (isPlaceholder(line)) candidates.set(line.trim(), line);
  }
  if (candidates.size === 0) return null;
  for (const line of eachLineText(oldText)) candidates.delete(line.trim());
  const [first] = candidates.values();
  return first ?? null;
}

function isPlaceholder(line: string): boolean {
  const comment = parseComment(line);
  return isMarker(line) || (comment?.isComment === true && TRAILING_PLACEHOLDER.test(comment.body));
}

/** The line's text without comment signs; null for a line too long to be a marker. */
function parseComment(line: string): { isComment: boolean; body: string } | null {
  const trimmed = line.trim();
  if (trimmed.length > LONGEST_MARKER) return null;
  const inner = trimmed.replace(COMMENT_START, '');
  return { isComment: inner !== trimmed, body: inner.replace(COMMENT_END, '').trim() };
}

/** Longer comments say more than that code was left out. */
const LONGEST_MARKER = 120;

const COMMENT_START = /^(?:\/\/+|#+|--+|;+|%+|\/\*+|\*+|<!--|\{\/\*+|"""|'|REM\b)/i;
const COMMENT_END = /(?:\*+\/\}?|-->|""")$/;

const LEFT_OUT =
  '(?:(?:the\\s+)?(?:rest|remainder)|(?:keep\\s+)?existing|unchanged|previous|remaining|other|same|more)\\b';
const ELLIPSIS = '(?:\\.{3}|…)';
const MARKER = new RegExp(`^${ELLIPSIS}\\s*\\(?\\s*${LEFT_OUT}[^.…]*${ELLIPSIS}?$`, 'i');
const BARE_MARKER = new RegExp(`^${ELLIPSIS}\\s+\\(?\\s*${LEFT_OUT}[^.…]*${ELLIPSIS}?$`, 'i');
const TRAILING_PLACEHOLDER = new RegExp(
  `^\\(?(?:the\\s+)?(?:rest\\s+of|remaining|existing|unchanged)\\b[^.…]*${ELLIPSIS}\\)?$`,
  'i',
);
