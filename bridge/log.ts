/** The bridge's log for the machine's owner: what went wrong on this machine, one line each. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { inOneLine } from '../shared/plain-sight.ts';

/** Where the lines of the work at hand go. */
const sinks = new AsyncLocalStorage<(line: string) => void>();

/** Sends the lines of `work`, and of everything that it starts, to `write`: several bridges can share a process. */
export function logTo<Result>(write: (line: string) => void, work: () => Result): Result {
  return sinks.run(write, work);
}

/** Writes one line. The line may quote names and texts from any source. */
export function logLine(line: string): void {
  const write = sinks.getStore() ?? console.error;
  write(inOneLine(line));
}

/** Writes what happened and why. */
export function logTrouble(what: string, error: unknown): void {
  logLine(`${what}: ${error instanceof Error ? error.message : String(error)}`);
}
