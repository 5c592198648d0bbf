/** Ends a command early: at a signal, or when the reader of its output has left. */
import { isSystemError } from '../../machine/system-error.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { EXIT } from './exit-codes.ts';

/** One set for the process, as the streams belong to the process. */
const listeners = new Set<() => void>();

/** Ends the program quietly when its output loses its reader. SIGPIPE would come for API connections, too. */
export function endWhenUnread(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onWriteError);
}

/** Calls the listener, once or more, instead of ending the program, until the returned function is called. */
export function onUnread(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Aborts at Ctrl-C, SIGTERM, or when the terminal or the reader of the output leaves. A repetition changes nothing. */
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
  // For example a full disk. If stderr is the stream that fails, this message is lost too.
  process.stderr.write(`drawbridge: The output cannot be written: ${inOneLine(error.message)}\n`);
  process.exit(EXIT.failure);
}
