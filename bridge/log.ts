/** The bridge's log for the machine's owner: what went wrong on this machine, one line each. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { LogEntry } from '../machine/log-line.ts';
import { inOneLine } from '../shared/plain-sight.ts';

/** Gets a line for a terminal, and the entry of a log file. */
export type LogSink = (line: string, entry: LogEntry) => void;

/** Where the lines of the work at hand go. */
const sinks = new AsyncLocalStorage<LogSink>();

/** Sends the lines of `work`, and of everything that it starts, to `write`: several bridges can share a process. */
export function logTo<Result>(write: LogSink, work: () => Result): Result {
  return sinks.run(write, work);
}

/** Writes one line. The line may quote names and texts from any source. Without `entry` a log file gets the line. */
export function logLine(
  line: string,
  entry: LogEntry = { event: 'bridge_notice', message: line },
): void {
  const write = sinks.getStore() ?? toTerminal;
  write(inOneLine(line), entry);
}

/** Writes what happened and why. */
export function logTrouble(what: string, error: unknown): void {
  logLine(`${what}: ${error instanceof Error ? error.message : String(error)}`);
}

function toTerminal(line: string): void {
  console.error(line);
}
