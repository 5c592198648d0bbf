/** A log file of bounded size, whose end is at hand. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { LOCAL_LIMITS } from '../limits.ts';

export interface LogFile {
  /** Writes at once, so that the last words of a process are there when it is reported dead. */
  append(text: string): void;
  /** The last lines of this run. */
  tail(): string[];
}

/** Opens the log for appending. What is full becomes `<path>.old`. */
export function openLogFile(path: string): LogFile {
  let bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let end = '';
  const write = (text: string) => {
    if (bytes > LOCAL_LIMITS.maxLogBytes) {
      renameSync(path, `${path}.old`);
      bytes = 0;
    }
    appendFileSync(path, text, { mode: 0o600 });
    bytes += Buffer.byteLength(text);
  };
  return {
    append(text) {
      end = (end + text).slice(-LOCAL_LIMITS.maxLogTailChars);
      try {
        write(text);
      } catch {
        // The disk is full, say. A gap in the log is better than the end of all that runs.
      }
    },
    tail: () => end.split('\n').filter((line) => line !== ''),
  };
}
