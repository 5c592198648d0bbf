/** The ways a person or the system asks a command to end. */

/** Aborts at Ctrl-C, SIGTERM, or when the terminal closes. To ask twice changes nothing. */
export function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => controller.abort());
  }
  return controller.signal;
}
