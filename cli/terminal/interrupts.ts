/** The ways a person or the system asks a command to end. */
import { onUnread } from './write-errors.ts';

/** Aborts at Ctrl-C, SIGTERM, or when the terminal or the reader of the output leaves. To ask twice changes nothing. */
export function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => controller.abort());
  }
  onUnread(() => controller.abort());
  return controller.signal;
}
