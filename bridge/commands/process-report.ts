/** Shows the model a process: its state and a page of its output. */

import { ToolFailure } from '../../machine/failure.ts';
import {
  type KnownProcess,
  type ProcessBook,
  TERMINAL_LIMITS,
} from '../../packages/sandbox/index.ts';
import { inOneLine, shorten } from '../../shared/text/plain-sight.ts';
import { SECOND } from '../../shared/units.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import { describeEnd } from './command-result.ts';

/** The conversation's process with this id. Throws a ToolFailure. */
export function processOf(book: ProcessBook, id: string, conversationId: string): KnownProcess {
  const process = book.find(id, conversationId);
  if (process) return process;
  throw new ToolFailure(
    'NO_SUCH_PROCESS',
    `This conversation has no process ${inOneLine(id)} at this bridge: list them with read_process. Processes end with their ` +
      'bridge, so one of an earlier bridge is gone, and what it did last is unknown.',
  );
}

/** One line: what runs, and since when, or how it ended. */
export function describeProcess({ id, title, folder, startedAtMs, state }: KnownProcess): string {
  const end = state.state === 'running' ? Date.now() : state.endedAtMs;
  // The clock may have been set back.
  const seconds = (Math.max(0, end - startedAtMs) / SECOND).toFixed(1);
  const text = state.state === 'running' ? 'Running.' : describeEnd(state.end).text;
  const line = shorten(inOneLine(title), TERMINAL_LIMITS.maxListedChars);
  return `${id}: ${line} (in ${inOneLine(folder)}). ${text} ${seconds} s since its start.`;
}

/** A page of the output from a position on, which is not negative. What it shows counts as seen. */
export function toPage(
  process: KnownProcess,
  cursor: number,
  notes: readonly string[],
): ToolResult {
  const { id, output, state } = process;
  const page = output.read(cursor, TERMINAL_LIMITS.maxPageChars);
  process.shownTo = Math.max(process.shownTo, page.next);
  const isRunning = state.state === 'running';
  const exitCode = isRunning ? undefined : describeEnd(state.end).exitCode;
  const lost = page.from > cursor;
  const data = [
    describeProcess(process),
    ...notes,
    ...(lost ? [`Characters ${cursor} to ${page.from} are no longer kept.`] : []),
    `Output from ${page.from} to ${page.next} of ${output.length} characters; the next cursor is ${page.next}.`,
    ...(page.text === '' ? [] : [page.text]),
  ].join('\n');
  return {
    status: 'success',
    data,
    metadata: {
      process_id: id,
      running: isRunning,
      ...(exitCode !== undefined && { exitCode }),
      cursor: page.next,
    },
  };
}
