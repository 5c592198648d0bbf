/** The log of the bridge: what went wrong on this machine, one line each, for its owner. */
import { inOneLine } from '../shared/plain-sight.ts';

/** One line of the log. It may quote names and texts of anybody. */
export function logLine(line: string): void {
  console.error(inOneLine(line));
}

/** Says what happened and why. */
export function logTrouble(what: string, error: unknown): void {
  logLine(`${what}: ${error instanceof Error ? error.message : String(error)}`);
}
