/** The bridge's log for the machine's owner: what went wrong on this machine, one line each. */
import { inOneLine } from '../shared/plain-sight.ts';

/** Writes one line. The line may quote names and texts from any source. */
export function logLine(line: string): void {
  console.error(inOneLine(line));
}

/** Writes what happened and why. */
export function logTrouble(what: string, error: unknown): void {
  logLine(`${what}: ${error instanceof Error ? error.message : String(error)}`);
}
