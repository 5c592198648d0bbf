/** What ends a command before it is done: a signal, or output that nobody reads any more. */
import { isSystemError } from '../../machine/system-error.ts';
import { inOneLine } from '../../shared/plain-sight.ts';
import { EXIT } from './exit-codes.ts';

/** Process-wide, as the streams are. */
const listeners = new Set<() => void>();

/**
 * From now on a reader who leaves ends the program quietly, as SIGPIPE does with most programs. Not by that signal:
 * it would come for a broken connection to the API just the same.
 */
export function endWhenUnread(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onWriteError);
}

/** Calls the listener instead, until the returned function is called. It may be called more than once. */
export function onUnread(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Aborts at Ctrl-C, SIGTERM, or when the terminal or the reader of the output leaves. To ask twice changes nothing. */
export function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => controller.abort());
  }
  onUnread(() => controller.abort());
  return controller.signal;
}

function onWriteError(error: Error): void {
  if (isSystemError(error, 'EPIPE')) {
    if (listeners.size === 0) process.exit(EXIT.unread);
    for (const listener of [...listeners]) listener();
    return;
  }
  // A full disk, say. Where stderr is what fails, this is lost as well.
  process.stderr.write(`drawbridge: The output cannot be written: ${inOneLine(error.message)}\n`);
  process.exit(EXIT.failure);
}
