/** Runs read_process: lists a conversation's processes, or shows the output of one, perhaps after a wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import { findLine } from '../../packages/code-index/index.ts';
import {
  type ArgumentsOf,
  type BridgeTool,
  doing,
  type ToolContext,
} from '../../packages/host/index.ts';
import {
  type KnownProcess,
  type ProcessBook,
  TERMINAL_LIMITS,
} from '../../packages/sandbox/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { readProcess } from '../../shared/tools/process.ts';
import { SECOND } from '../../shared/units.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import { describeProcess, processOf, toPage } from './process-report.ts';

type ReadProcessCall = ArgumentsOf<typeof readProcess>;

/** Rules match the command line of the process. */
export function createReadProcess(book: ProcessBook): BridgeTool {
  const tool = doing(readProcess, (args, context) => execute(args, book, context));
  return {
    ...tool,
    read: (given, conversationId) => {
      const call = tool.read(given, conversationId);
      const process = book.find(String(call.args['process_id']), conversationId);
      return { ...call, subjects: [process?.command ?? ''] };
    },
  };
}

async function execute(
  args: ReadProcessCall,
  book: ProcessBook,
  { conversationId, signal }: ToolContext,
): Promise<ToolResult> {
  if (args.process_id === undefined) return toList(book.list(conversationId));
  const process = processOf(book, args.process_id, conversationId);
  // Once: while the call waits, the end moves.
  const cursor = process.output.positionOf(args.cursor ?? process.shownTo);
  const note = await waitFor(process, cursor, args, signal);
  return toPage(process, cursor, note === undefined ? [] : [note]);
}

function toList(processes: readonly KnownProcess[]): ToolResult {
  const lines = processes.map(describeProcess);
  const data = lines.length === 0 ? 'This conversation has no processes.' : lines.join('\n');
  return { status: 'success', data };
}

/** Resolves with a sentence on what the wait found; undefined without a wait. */
async function waitFor(
  process: KnownProcess,
  cursor: number,
  { pattern, timeout }: ReadProcessCall,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (pattern === undefined && timeout === undefined) return undefined;
  const waitMs = timeout ?? TERMINAL_LIMITS.defaultWaitMs;
  const deadline = performance.now() + waitMs;
  const search = new OutputSearch(process, cursor, signal);
  while (true) {
    const hasEnded = process.state.state === 'ended';
    if (pattern === undefined && hasEnded) return undefined;
    const line = pattern === undefined ? undefined : await search.find(pattern);
    if (line !== undefined) return `The pattern matches: ${inOneLine(line)}`;
    if (hasEnded) return `The pattern does not match, and nothing more comes.${search.gap}`;
    const left = deadline - performance.now();
    if (left <= 0)
      return `${pattern === undefined ? 'It did not end' : 'No match'} within ${waitMs / SECOND} s.${search.gap}`;
    await sleep(Math.min(left, TERMINAL_LIMITS.waitPollMs), undefined, { signal });
  }
}

/** Searches a growing output once, in pieces. A line that goes on is searched again as a whole, within bounds. */
class OutputSearch {
  readonly #process: KnownProcess;
  readonly #signal: AbortSignal;
  /** Where the next look begins, and where the last one ended. */
  #next: number;
  #seen = -1;
  #hasGap = false;

  constructor(process: KnownProcess, cursor: number, signal: AbortSignal) {
    this.#process = process;
    this.#next = cursor;
    this.#signal = signal;
  }

  /** A sentence on what the search has missed; mostly empty. */
  get gap(): string {
    return this.#hasGap ? ' Some of the output was gone before it could be searched.' : '';
  }

  /** The first line that matches in what was not searched yet. */
  async find(pattern: string): Promise<string | undefined> {
    const { output } = this.#process;
    // A program that prints faster than it is searched must not hold this look for ever.
    const until = output.length;
    while (this.#seen < until) {
      const { from, text, next } = output.read(this.#next, TERMINAL_LIMITS.maxSearchedChars);
      this.#hasGap ||= from > this.#next;
      const line = await findLine(pattern, text, this.#signal);
      if (line !== undefined) return line;
      this.#seen = next;
      const open = text.length - (text.lastIndexOf('\n') + 1);
      const isAtEnd = next >= until && from < next;
      this.#next =
        isAtEnd || open < text.length ? next - Math.min(open, TERMINAL_LIMITS.maxLineChars) : next;
    }
    return undefined;
  }
}
