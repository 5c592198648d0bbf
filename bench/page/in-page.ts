/** What runs in the measured page, before its own scripts: looks at it frame by frame, as a person would. */

/** {@link Watched} of watching.ts. */
let watched: { frames: number[]; keys: number[] } | undefined;

/**
 * Resolves when a frame is painted in which the last of these elements has the text and is in sight, with the
 * milliseconds since the document's navigation began.
 */
async function shown(selector: string, text: string): Promise<number> {
  for (;;) {
    await new Promise(requestAnimationFrame);
    const last = [...document.querySelectorAll(selector)].at(-1);
    if (!last?.textContent.includes(text)) continue;
    const { top, bottom } = last.getBoundingClientRect();
    if (bottom > 0 && top < innerHeight) return await painted();
  }
}

/** The time after the frame that is being made. */
function painted(): Promise<number> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => resolve(performance.now());
    port2.postMessage(undefined);
  });
}

/** Begins to collect. */
function watch(): void {
  const own = { frames: [] as number[], keys: [] as number[] };
  watched = own;
  let beforeMs = performance.now();
  const onFrame = (nowMs: number) => {
    if (watched !== own) return;
    own.frames.push(nowMs - beforeMs);
    beforeMs = nowMs;
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
}

function taken(): { frames: readonly number[]; keys: readonly number[] } {
  const all = watched ?? { frames: [], keys: [] };
  watched = undefined;
  return all;
}

addEventListener(
  'keydown',
  ({ timeStamp }) => {
    requestAnimationFrame(async () => {
      const paintedMs = await painted();
      watched?.keys.push(paintedMs - timeStamp);
    });
  },
  true,
);

/** Lays the thread, the first in its parent, out from nothing: all its boxes are made anew. Returns the milliseconds until it was painted. */
async function layOut(selector: string): Promise<number> {
  const thread = document.querySelector(selector);
  const parent = thread?.parentElement;
  if (!thread || !parent) throw new Error(`There is no ${selector}.`);
  thread.remove();
  await new Promise(requestAnimationFrame);
  const startMs = performance.now();
  parent.prepend(thread);
  await new Promise(requestAnimationFrame);
  return (await painted()) - startMs;
}

/** Adds these pieces of text to the page, one each time, and keeps their end in sight. Begins another paragraph now and then. */
async function grow(pieces: readonly string[], everyMs: number): Promise<void> {
  const box = document.scrollingElement ?? document.body;
  for (const [at, piece] of pieces.entries()) {
    if (at % 10 === 0) document.body.append(document.createElement('p'));
    document.body.lastElementChild?.append(piece);
    box.scrollTop = box.scrollHeight;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Takes away what a page keeps to show it again at once, apart from the browser's own cache. */
async function forget(): Promise<void> {
  const workers = await navigator.serviceWorker.getRegistrations();
  await Promise.all(workers.map((worker) => worker.unregister()));
  for (const name of await caches.keys()) await caches.delete(name);
  for (const { name } of await indexedDB.databases()) {
    if (name?.endsWith('-seen')) indexedDB.deleteDatabase(name);
  }
}

Object.assign(globalThis, { bench: { shown, watch, taken, layOut, grow, forget } });
