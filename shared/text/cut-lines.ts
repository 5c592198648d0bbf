/** Cuts a text for a prompt, with a visible note of what is left out and how to get it. */

/** Cuts after a whole line, with a note within `maxChars`. `rest` says how to get the rest, such as `use list_dir`. */
export function cutLines(text: string, maxChars: number, rest = 'use the tools'): string {
  if (text.length <= maxChars) return text;
  const room = maxChars - cutNote(countLines(text, 0), rest).length - 1;
  const end = text.lastIndexOf('\n', Math.max(0, room));
  if (end <= 0) return cutNote(countLines(text, 0), rest);
  return `${text.slice(0, end)}\n${cutNote(countLines(text, end + 1), rest)}`;
}

/** Whether the line is the note of a cut. */
export function isCutNote(line: string): boolean {
  return line.startsWith(MARK);
}

const MARK = '... (cut';

/** The note in place of so many lines, or of other things. */
export function cutNote(count: number, rest: string, thing = 'line'): string {
  return `${MARK}: ${count.toLocaleString('en-US')} more ${thing}${count === 1 ? '' : 's'}, ${rest})`;
}

/** The lines from the position on; an empty one at the end does not count. */
function countLines(text: string, from: number): number {
  let lines = 0;
  for (let at = from; at < text.length; lines++) {
    const next = text.indexOf('\n', at);
    at = next < 0 ? text.length : next + 1;
  }
  return lines;
}
