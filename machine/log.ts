/** The bridge's log for the machine's owner: what happened on this machine, one event each. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { inOneLine } from '../shared/text/plain-sight.ts';
import type { LogEntry, LogIds } from './log-line.ts';
import { maskSecrets, maskValue } from './secrets/filter.ts';

/** Gets the entry of a log file, and the line for a person at the terminal: null for an event that is only logged. */
export type LogSink = (entry: LogEntry, line: string | null) => void;

/** Where the lines of the work at hand go. */
const sinks = new AsyncLocalStorage<LogSink>();

/** The ids of the call that the work at hand is for. */
const calls = new AsyncLocalStorage<LogIds>();

/** Sends the lines of `work`, and of everything that it starts, to `write`: several bridges can share a process. */
export function logTo<Result>(write: LogSink, work: () => Result): Result {
  return sinks.run(write, work);
}

/** Makes {@link currentCall} return `ids` in `work` and in everything that it starts. */
export function aboutCall<Result>(ids: LogIds, work: () => Result): Result {
  return calls.run(ids, work);
}

/** The ids of the call that the caller works for; none where it works for no call. A line about the call has them. */
export function currentCall(): LogIds {
  return calls.getStore() ?? {};
}

/** Writes one event, without secrets. `line`, for the terminal, may quote names and texts from any source. */
export function logEvent(entry: LogEntry, line: string | null = entry.message ?? null): void {
  const write = sinks.getStore() ?? toTerminal;
  write(maskValue(entry), line === null ? null : inOneLine(maskSecrets(line)));
}

/** Writes that something failed, and why. */
export function logTrouble(entry: Omit<LogEntry, 'message'>, what: string, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  logEvent({ ...entry, message: `${what}: ${why}` });
}

function toTerminal(_: LogEntry, line: string | null): void {
  if (line !== null) console.error(line);
}
