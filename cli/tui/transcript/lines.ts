/** Text from outside as lines of the screen. */
import { wrapTextWithAnsi } from '@earendil-works/pi-tui';
import { type LastLines, lastLines } from '../../../shared/shown/terminal-lines.ts';
import { printable } from '../../../shared/text/plain-sight.ts';
import { ToolOutcome } from '../../../shared/wire/documents.ts';
import { SCREEN_LIMITS } from '../../limits.ts';
import { resultText } from '../../render/result-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import type { Look } from './look.ts';

/** Text that need not be printable, wrapped. */
export function wrapped(text: string, width: number): string[] {
  return wrapTextWithAnsi(plain(text), Math.max(1, width));
}

/** Text that need not be printable, with blanks for tabs. */
export function plain(text: string): string {
  return printable(text).replaceAll('\t', '    ');
}

/** Lines that stand to the right of something. */
export function indented(lines: readonly string[], indent = INDENT): string[] {
  return lines.map((line) => `${indent}${line}`);
}

/** Two blanks before what belongs to the line above. */
export const INDENT = '  ';

/** The end of a long text, as much as the screen shows of it now. */
export function endOf(text: string, { isExpanded }: Look): LastLines {
  return lastLines(text, isExpanded ? SCREEN_LIMITS.unfoldedLines : SCREEN_LIMITS.foldedLines);
}

/** Says how many lines are not shown; nothing if there are none. */
export function hiddenLine(hidden: number, where: 'earlier' | 'more', look: Look): string[] {
  if (hidden <= 0) return [];
  const lines = `${hidden} ${where} line${hidden === 1 ? '' : 's'}`;
  return [look.paint('dim', `… ${lines}${look.isExpanded ? '' : ' (Ctrl-O shows them)'}`)];
}

/** Why a call failed, of its result; nothing for one that succeeded. */
export function failureLines(result: unknown, width: number, paint: Paint): string[] {
  const outcome = ToolOutcome.safeParse(result).data;
  if (outcome?.status !== 'error') return [];
  return wrapped(resultText(outcome), width).map((line) => paint('red', line));
}
