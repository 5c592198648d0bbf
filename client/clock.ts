/** The client's time and randomness. */

/** A test passes its own clock. */
export interface Clock {
  /**
   * Resolves after `ms`; rejects with the signal's reason if the signal aborts first. A web page that comes back, to its
   * person or to the network, ends the wait early if at least `wakeMs` of it are over. Phones stop the timers of a page
   * in the background, and do not report to it that its connections are gone.
   */
  readonly sleep: (ms: number, signal: AbortSignal, wakeMs?: number) => Promise<void>;
  /** From 0 to 1, like `Math.random`. */
  readonly random: () => number;
}

/** The clock of the machine. */
export const systemClock: Clock = { sleep, random: Math.random };

function sleep(ms: number, signal: AbortSignal, wakeMs = ms): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const start = Date.now();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      ignoreReturn();
    };
    const onAbort = () => {
      end();
      reject(signal.reason);
    };
    const onDone = () => {
      end();
      resolve();
    };
    const timer = setTimeout(onDone, ms);
    signal.addEventListener('abort', onAbort, { once: true });
    const ignoreReturn = onReturn(() => {
      if (Date.now() - start >= wakeMs) onDone();
    });
  });
}

interface BrowserPage {
  readonly document?: EventTarget & { readonly visibilityState: string };
  readonly addEventListener: EventTarget['addEventListener'];
  readonly removeEventListener: EventTarget['removeEventListener'];
}

/** Calls the listener when the page comes back, until the returned function is called. Does nothing outside of a page. */
function onReturn(listener: () => void): () => void {
  const page = globalThis as unknown as BrowserPage;
  const { document } = page;
  if (!document) return () => undefined;
  const onVisible = () => document.visibilityState === 'visible' && listener();
  document.addEventListener('visibilitychange', onVisible);
  for (const name of RETURNS) page.addEventListener(name, listener);
  return () => {
    document.removeEventListener('visibilitychange', onVisible);
    for (const name of RETURNS) page.removeEventListener(name, listener);
  };
}

/** The network is back; the page comes out of the browser's cache. */
const RETURNS = ['online', 'pageshow'];
