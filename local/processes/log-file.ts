/** A log file of bounded size that also keeps its end in memory. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { formatLogLine, type LogEntry } from '../../machine/log-line.ts';
import { LOCAL_LIMITS } from '../limits.ts';

export interface LogFile {
  /** Writes at once, so that the last output of a process is in the log when its death is reported. */
  append(text: string): void;
  /** The last lines of this run. */
  tail(): string[];
}

/** Opens the log for appending. Renames a full log to `<path>.old`. `onText` gets the same text. */
export function openLogFile(path: string, onText?: (text: string) => void): LogFile {
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
      onText?.(text);
      end = (end + text).slice(-LOCAL_LIMITS.maxLogTailChars);
      try {
        write(text);
      } catch {
        // For example a full disk. A gap in the log is better than the end of the instance.
      }
    },
    tail: () => end.split('\n').filter((line) => line !== ''),
  };
}

/** The same file for events alone: each call writes one line of JSON. */
export function openEventLog(path: string): (entry: LogEntry) => void {
  const log = openLogFile(path);
  return (entry) => log.append(formatLogLine(entry, new Date()));
}

/** Turns chunks of text into lines. The part after the last newline waits for its end, up to a length. */
export function byLines(onLine: (line: string) => void): (text: string) => void {
  let begun = '';
  return (text) => {
    const lines = (begun + text).split('\n');
    begun = lines.pop() ?? '';
    if (begun.length > LOCAL_LIMITS.maxLineChars) {
      lines.push(begun);
      begun = '';
    }
    for (const line of lines) onLine(line);
  };
}
