/** Bounds the texts that a tool gives to the model. */
import { TOOL_LIMITS } from '../shared/limits.ts';

/** A line, or its beginning with a note on how much was left out. Never ends in half a character. */
export function cutLine(line: string): string {
  const max = TOOL_LIMITS.maxLineChars;
  if (line.length <= max) return line;
  const end = isHighSurrogate(line.charCodeAt(max - 1)) ? max - 1 : max;
  return `${line.slice(0, end)}… (${line.length - end} more characters)`;
}

/** A line, or the part of it around the character at `at`, with notes on how much was left out. */
export function cutAround(line: string, at: number): string {
  const max = TOOL_LIMITS.maxLineChars;
  if (line.length <= max || at < max / 2) return cutLine(line);
  const about = Math.max(0, Math.min(at, line.length) - max / 4);
  const start = isHighSurrogate(line.charCodeAt(about - 1)) ? about + 1 : about;
  return `(${start} characters before) …${cutLine(line.slice(start))}`;
}

/** As many lines, from the first on, as one result may hold. */
export function linesThatFit(lines: readonly string[], maxLines: number): readonly string[] {
  let chars = 0;
  let count = 0;
  for (const line of lines.slice(0, maxLines)) {
    chars += line.length + 1;
    if (chars > TOOL_LIMITS.maxResultChars) break;
    count++;
  }
  return lines.slice(0, count);
}

/** Names in a sentence: the first ones, and the number of the others. */
export function listed(names: readonly string[]): string {
  const { maxNamedPaths } = TOOL_LIMITS;
  const others = names.length - maxNamedPaths;
  const shown = names.slice(0, maxNamedPaths).join(', ');
  return others > 0 ? `${shown} and ${others} more` : shown;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
