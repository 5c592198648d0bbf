/** Shortens text, never inside a surrogate pair. A mark shows the cut where there is room. Pure. */
import { tagged } from '../../../../packages/prompt/index.ts';

/** Contains no number, so that text that is cut twice reads as if it had been cut once. */
const CUT = '\n[... cut here to save room ...]\n';

/** The text within `maxChars` UTF-16 units: whole, or head and tail; with hardly any room, its head alone. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = Math.floor(maxChars) - CUT.length;
  if (kept <= CUT.length) return headOf(text, Math.max(0, Math.floor(maxChars)));
  const head = Math.ceil(kept / 2);
  return `${headOf(text, head)}${CUT}${tailOf(text, kept - head)}`;
}

/** As {@link cutMiddle}, but bounds the length that the text has inside a tag. */
export function cutTagged(text: string, maxChars: number): string {
  let cut = cutMiddle(text, maxChars);
  while (cut !== '' && taggedLength(cut) > maxChars) {
    const share = Math.min(0.9, maxChars / taggedLength(cut));
    cut = cutMiddle(text, Math.floor(cut.length * share));
  }
  return cut;
}

function taggedLength(text: string): number {
  return tagged('', text).length - tagged('', '').length;
}

/** The first line that is not empty, within `maxChars` UTF-16 units. */
export function firstLine(text: string, maxChars: number): string {
  const line = /\S.*/.exec(text)?.[0].trimEnd() ?? '';
  return line.length <= maxChars ? line : `${headOf(line, maxChars - 3)}...`;
}

/** The largest length to which texts of these lengths can be cut so that they take at most `maxChars` together. */
export function levelFor(lengths: readonly number[], maxChars: number): number {
  let left = Math.max(0, maxChars);
  const ascending = lengths.toSorted((a, b) => a - b);
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (length > share) return share;
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}

/** The newest texts, oldest first, within `maxChars`. Each takes `besides` more than its length. */
export function newestWithin(
  texts: readonly string[],
  maxChars: number,
  besides: number,
): readonly string[] {
  let left = maxChars;
  const tooMany = texts.findLastIndex(({ length }) => {
    left -= length + besides;
    return left < 0;
  });
  return texts.slice(tooMany + 1);
}

function headOf(text: string, chars: number): string {
  return text.slice(0, splitsPair(text, chars) ? chars - 1 : chars);
}

function tailOf(text: string, chars: number): string {
  const start = text.length - chars;
  return text.slice(splitsPair(text, start) ? start + 1 : start);
}

function splitsPair(text: string, index: number): boolean {
  return index > 0 && index < text.length && (text.codePointAt(index - 1) ?? 0) > 0xffff;
}
